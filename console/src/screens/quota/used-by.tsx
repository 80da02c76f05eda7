import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { OrgsService } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { ProjectsService } from "../../../../gen/iam/v1alpha/project_pb.ts";
import { QuotasService } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { quotaOf } from "../../calls/paths.ts";
import type { Kind } from "../../calls/use-kinds.ts";
import { quotaTexts } from "../../texts/quota-texts.ts";
import { texts } from "../../texts/texts.ts";
import { amountOf } from "../../ui/amount.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { type Answer, Answered, Empty } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { UseMeter } from "../../ui/use-meter.tsx";

interface UsedByProps {
  /** The org or customer, by its name. */
  readonly of: string;
  readonly kind: string;
  readonly named: Kind;
}

/** The quota of each is a call of its own. */
const pageSize = 20;

const options = { placeholderData: keepPreviousData, retry: false };

/** What the projects of an org use of a kind. */
export function UsedByProject({ of, ...kind }: UsedByProps) {
  const { q, page = "" } = useSearch({ strict: false });
  const request = { parentPath: of, pageSize, pageToken: page, filter: toFilter(q) };
  const projects = useQuery(ProjectsService.method.listProjects, request, options);
  return <UsedBy each="org" of={projects} rowsOf={(found) => found.projects} {...kind} />;
}

/** What the orgs of a customer use of a kind. */
export function UsedByOrg({ of, ...kind }: UsedByProps) {
  const { q, page = "" } = useSearch({ strict: false });
  const filter = toFilter(q, `customer_path = ${JSON.stringify(of)}`);
  const orgs = useQuery(OrgsService.method.listOrgs, { pageSize, pageToken: page, filter }, options);
  return <UsedBy each="customer" of={orgs} rowsOf={(found) => found.orgs} {...kind} />;
}

/** A project or an org. */
interface User {
  readonly path: string;
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
}

interface UsedByEachProps<Found> extends Omit<UsedByProps, "of"> {
  readonly each: keyof typeof quotaTexts.by;
  readonly of: Answer<Found>;
  readonly rowsOf: (found: Found) => readonly User[];
}

function UsedBy<Found extends { readonly nextPageToken: string }>(props: UsedByEachProps<Found>) {
  const { each, of, rowsOf, kind, named } = props;
  const { q, page = "" } = useSearch({ strict: false });
  const columns: readonly Column<User>[] = [
    {
      title: texts.columns.name,
      cell: ({ path, name, displayName }) => (
        <Link to={quotaOf(path)} search={each === "customer" ? { kind } : {}}>
          <bdi>{displayName || name}</bdi>
        </Link>
      ),
    },
    { title: named.name, cell: ({ path, name }) => <UserUse path={path} name={name} kind={kind} named={named} /> },
  ];
  return (
    <Section title={quotaTexts.by[each]} actions={<SearchBox label={quotaTexts.searchIn[each]} value={q ?? ""} />}>
      <Answered of={of}>
        {(found) => {
          const rows = rowsOf(found);
          return (
            <>
              {rows.length === 0 ? (
                <Empty title={quotaTexts.noneIn[each]} />
              ) : (
                <DataTable label={quotaTexts.by[each]} columns={columns} rows={rows} keyOf={({ id }) => id} />
              )}
              <Pager page={page} nextPage={found.nextPageToken} shown={rows.length} total={undefined} />
            </>
          );
        }}
      </Answered>
    </Section>
  );
}

interface UserUseProps extends Omit<UsedByProps, "of"> {
  readonly path: string;
  readonly name: string;
}

function UserUse({ path, name, kind, named }: UserUseProps) {
  const { data } = useQuery(QuotasService.method.getQuota, { parentPath: path }, { retry: false });
  if (data === undefined) return null;
  const use = { kind, ...named, used: amountOf(data.usage, kind) ?? 0, reserved: amountOf(data.reserved, kind) ?? 0 };
  return <UseMeter use={{ ...use, limit: amountOf(data.limits, kind) }} meterLabel={`${named.name}, ${name}`} />;
}
