import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { type QuantityKind, QuantityKindsService } from "../../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { catalogTexts, kindTexts } from "../../texts/catalog-texts.ts";
import { texts } from "../../texts/texts.ts";
import { writeAmount } from "../../ui/amount.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ListPage } from "../../ui/list-page.tsx";

const columns: readonly Column<QuantityKind>[] = [
  { title: texts.columns.name, cell: ({ name, displayName }) => <bdi>{displayName || name}</bdi> },
  { title: texts.columns.nameInPaths, cell: ({ name }) => <code>{name}</code> },
  { title: kindTexts.unit, cell: ({ unit }) => <bdi>{unit}</bdi> },
  { title: kindTexts.step, numeric: true, wide: true, cell: ({ step = 1 }) => writeAmount(step) },
  { title: texts.columns.description, wide: true, cell: ({ description }) => <bdi>{description}</bdi> },
];

/** What resources have so much of. */
export function QuantityKindsScreen() {
  const search = useSearch({ from: "/quantityKinds" });
  const request = { pageSize: 100, pageToken: search.page ?? "", filter: toFilter(search.q) };
  const options = { placeholderData: keepPreviousData };
  const kinds = useQuery(QuantityKindsService.method.listQuantityKinds, request, options);
  return (
    <ListPage
      words={kindTexts}
      links={
        <Link to="/services" className="button plain">
          {catalogTexts.title}
        </Link>
      }
      search={search}
      of={kinds}
      rowsOf={(found) => found.quantityKinds}
      table={(rows) => <DataTable label={kindTexts.title} columns={columns} rows={rows} keyOf={({ id }) => id} />}
    />
  );
}
