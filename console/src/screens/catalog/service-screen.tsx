import { useQuery } from "@connectrpc/connect-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ResourceType, ResourceTypesService } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { ServicesService } from "../../../../gen/resources/v1alpha/service_pb.ts";
import { useQuantityKinds } from "../../calls/use-kinds.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { catalogTexts } from "../../texts/catalog-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { Time } from "../../ui/time.tsx";

const columns: readonly Column<ResourceType>[] = [
  { title: texts.columns.name, cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} /> },
  {
    title: catalogTexts.operations,
    cell: ({ operations }) => operations.map(({ verb }) => verb).join(", "),
  },
  { title: texts.columns.description, wide: true, cell: ({ description }) => <bdi>{description}</bdi> },
];

/** One service: the types of resources that it offers, and what of them counts against quotas. */
export function ServiceScreen() {
  const { service: name } = useParams({ from: "/services/$service" });
  const path = `/services/${name}`;
  const service = useQuery(ServicesService.method.getService, { path });
  const types = useQuery(ResourceTypesService.method.listResourceTypes, { parentPath: path, pageSize: 1_000 });
  return (
    <ScreenOf of={service}>
      {({ displayName, description, countedKinds, createTime }) => (
        <Page
          kind={catalogTexts.service}
          title={displayName || name}
          intro={description === "" ? undefined : <bdi>{description}</bdi>}
          actions={
            <>
              <Link to="/services" className="button plain">
                {catalogTexts.title}
              </Link>
              <WhoHasRoles service={name} />
            </>
          }
        >
          <Facts>
            <Fact title={catalogTexts.counted}>
              <Counted kinds={countedKinds} />
            </Fact>
            <Fact title={texts.columns.path}>
              <code translate="no">{path}</code>
            </Fact>
            <Fact title={texts.columns.created}>
              <Time at={createTime} />
            </Fact>
          </Facts>
          <Section title={catalogTexts.types}>
            <Answered of={types}>
              {({ resourceTypes: rows }) =>
                rows.length === 0 ? (
                  <Empty title={catalogTexts.noTypes} />
                ) : (
                  <DataTable label={catalogTexts.types} columns={columns} rows={rows} keyOf={({ id }) => id} />
                )
              }
            </Answered>
          </Section>
        </Page>
      )}
    </ScreenOf>
  );
}

/** Leads to who has a role on the service, for people who may see that. */
function WhoHasRoles({ service }: { readonly service: string }) {
  const permissions = usePermissions(`/services/${service}`, ["iam.roleBindings.list"]);
  if (permissions.may("iam.roleBindings.list") !== true) return null;
  return (
    <Link to="/services/$service/roleBindings" params={{ service }} className="button plain">
      {texts.grants.title}
    </Link>
  );
}

function Counted({ kinds }: { readonly kinds: readonly string[] }) {
  const kindOf = useQuantityKinds();
  if (kinds.length === 0) return <span className="quiet-text">{catalogTexts.countsNothing}</span>;
  return (
    <ul>
      {kinds.map((kind) => (
        <li key={kind}>
          <Link to="/quantityKinds" search={{ q: kind }}>
            <bdi>{kindOf(kind).name}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  );
}
