import type { Resource } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import type { ResourceType } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import type { KindOf } from "../../calls/use-kinds.ts";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { amountOf, writeAmount } from "../../ui/amount.ts";
import type { Column } from "../../ui/data-table.tsx";
import { hasOf, Quantities } from "./amounts.tsx";

/** More kinds than this are in one column, each with its name. */
const mostColumns = 4;

const quantitiesOf = ({ quantities, givenQuantities }: Resource): Readonly<Record<string, number>> =>
  hasOf(givenQuantities, quantities);

/**
 * Returns a column for each kind of Quantities: those that the operations of a type declare, and those that rows have.
 *
 * @param type the only type that is listed, if it is one.
 */
export function amountColumns(
  rows: readonly Resource[],
  type: ResourceType | undefined,
  kindOf: KindOf,
): readonly Column<Resource>[] {
  const declared = (type?.operations ?? []).flatMap(({ quantities }) => quantities.map(({ kind }) => kind));
  const keys = [...new Set([...declared, ...rows.flatMap((row) => Object.keys(quantitiesOf(row)))])];
  if (keys.length > mostColumns) {
    const cell = (row: Resource) => <Quantities inLine of={quantitiesOf(row)} />;
    return [{ title: resourceTexts.quantities, wide: true, cell }];
  }
  const kinds = keys.map((key) => ({ key, ...kindOf(key) }));
  return kinds
    .toSorted((one, other) => one.name.localeCompare(other.name))
    .map(({ key, name, unit }) => ({
      // Bytes have their prefixes in the cells.
      title: unit === "" || unit === "byte" ? name : resourceTexts.inUnits(name, unit),
      numeric: true,
      wide: true,
      cell: (row) => {
        const amount = amountOf(quantitiesOf(row), key);
        return amount === undefined ? null : writeAmount(amount, unit);
      },
    }));
}
