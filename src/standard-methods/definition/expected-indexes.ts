// The indexes that a resource needs, so that the cost of a list is proportional to its page, and rows to purge or expire are
// found without a table scan (docs/decisions/0015-lists.md). Index definitions are in the form of `pg_get_indexdef`.
import type { FilterField } from "../../filters/filter-fields.ts";
import { type ResourceDefinition, isInOrg, isNamed, keepsDeleted } from "./definition.ts";
import { listFieldsOf } from "../read/list-fields.ts";
import type { ResourceRegistry } from "./registry.ts";
import type { ResourceType } from "../../paths/patterns.ts";

/** An index that the schema must have. */
interface ExpectedIndex {
  /** Why the index is needed, as the beginning of a sentence. */
  readonly purpose: string;
  /** The index to report as missing if no index is accepted. */
  readonly form: string;
  readonly accepts: (index: string) => boolean;
}

/** The condition of an index on the rows that are not deleted. */
export const live = " WHERE (delete_time IS NULL)";
const deleted = " WHERE (delete_time IS NOT NULL)";

export function expectedIndexes(registry: ResourceRegistry, definition: ResourceDefinition): ExpectedIndex[] {
  const { storage, places } = definition;
  const { id } = storage;
  const [place] = places;
  const parents = place.parents.map(({ column }) => column);
  const conditions = keepsDeleted(definition) ? [live, deleted] : [""];
  const exactly = (purpose: string, form: string): ExpectedIndex => ({
    purpose,
    form,
    accepts: (index) => index === form,
  });

  const byDefault: ExpectedIndex = {
    purpose: "lists order by id",
    form: `btree (${[...parents, id].join(", ")})`,
    // The columns before these are fixed by the queries that use the index. A key also has the customer.
    accepts: (index) =>
      index.startsWith("btree (") &&
      ["", ", customer_id", ", org_customer_id"].some((rest) =>
        index.includes(`${[...parents, id].join(", ")}${rest})`),
      ),
  };

  // Most rows may be deleted ones, which lists leave out.
  const lives =
    keepsDeleted(definition) && isInOrg(definition)
      ? [exactly("lists exclude deleted rows", `btree (${[...parents, id].join(", ")})${live}`)]
      : [];
  // Not a btree: the planner would also use it for ordered lists, and read the rows of all other orgs.
  const alone =
    isNamed(definition) && storage.key[0] !== id ? [exactly("rows are looked up by id alone", `hash (${id})`)] : [];

  const orders = Object.entries(listFieldsOf(definition, place)).flatMap(([name, field]) => {
    const column = orderedColumn(field);
    // The default index covers the id. Unindexed resources are few in each parent, and each is checked.
    if (column === undefined || column === id || storage.labels === "unindexed") return [];
    // Names are unique in a parent. With the id, the planner would use such an index to find ids by name.
    const columns = [...parents, expressionOf(field, column), ...(name === "name" ? [] : [id])];
    return conditions.map((where) =>
      exactly(`lists can be ordered by ${name}`, `btree (${columns.join(", ")})${where}`),
    );
  });

  const due = keepsDeleted(definition)
    ? [exactly("rows are searched by purge_time", "btree (purge_time) WHERE (purge_time IS NOT NULL)")]
    : [];
  const expiring =
    storage.expireField === undefined
      ? []
      : [exactly("rows are searched by expire_time", "btree (expire_time) WHERE (expire_time IS NOT NULL)")];

  const isInOrgToo = (to: ResourceType) => registry.definitionOf(to).storage.key.includes("org_id");
  const references = storage.references
    .filter(({ to, onDelete }) => isInOrgToo(to) || onDelete === "restrict")
    .map(({ column, to, onDelete }): ExpectedIndex => {
      const form = isInOrgToo(to) ? `btree (org_id, ${column}` : `btree (${column}`;
      const removed = `rows are removed with the row that ${column} refers to`;
      const kept = `rows keep the row that ${column} refers to`;
      return {
        purpose: onDelete === "cascade" ? removed : kept,
        form: `${form})`,
        accepts: (index) => index.startsWith(`${form},`) || index.startsWith(`${form})`),
      };
    });
  return [byDefault, ...lives, ...alone, ...orders, ...due, ...expiring, ...references];
}

function orderedColumn(field: FilterField): string | undefined {
  const order = "order" in field ? field.order : undefined;
  return order?.column.slice(order.column.indexOf(".") + 1);
}

/** Returns the expression that lists order by (filters/keyset.ts), as the catalog prints it. */
function expressionOf(field: FilterField, column: string): string {
  const order = "order" in field ? field.order : undefined;
  if (order?.isText === true) return `${column} COLLATE "C"`;
  return order?.isNullable === true ? `COALESCE(${column}, 'infinity'::timestamp with time zone)` : column;
}
