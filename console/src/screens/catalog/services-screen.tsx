import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { type Service, ServicesService } from "../../../../gen/resources/v1alpha/service_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { catalogTexts, kindTexts } from "../../texts/catalog-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { PathLink } from "../../ui/path-link.tsx";

const columns: readonly Column<Service>[] = [
  { title: texts.columns.name, cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} /> },
  { title: texts.columns.nameInPaths, wide: true, cell: ({ name }) => <code>{name}</code> },
  { title: texts.columns.description, wide: true, cell: ({ description }) => <bdi>{description}</bdi> },
];

/** The services of the cloud. */
export function ServicesScreen() {
  const search = useSearch({ from: "/services" });
  const request = { pageSize: 100, pageToken: search.page ?? "", filter: toFilter(search.q) };
  const options = { placeholderData: keepPreviousData };
  const services = useQuery(ServicesService.method.listServices, request, options);
  return (
    <ListPage
      words={catalogTexts}
      links={
        <Link to="/quantityKinds" className="button plain">
          {kindTexts.title}
        </Link>
      }
      search={search}
      of={services}
      rowsOf={(found) => found.services}
      table={(rows) => <DataTable label={catalogTexts.title} columns={columns} rows={rows} keyOf={({ id }) => id} />}
    />
  );
}
