// The indexes that a resource needs, so that a list costs what its page costs and what is due is found without a search
// (docs/decisions/0015-indexes-for-lists.md). Forms are those of `pg_get_indexdef`.
import type { FilterField } from "../filters/filter-fields.ts";
import { type ResourceDefinition, isInOrg, isNamed, keepsDeleted } from "./definition.ts";
import { listFieldsOf } from "./read/list-fields.ts";
import type { ResourceRegistry } from "./registry.ts";

/** An index that must be there. */
interface ExpectedIndex {
  /** Why, as the beginning of a sentence. */
  readonly purpose: string;
  /** The one that is missing if none is accepted. */
  readonly form: string;
  readonly accepts: (index: string) => boolean;
}

const live = " WHERE (delete_time IS NULL)";
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
    purpose: "lists order by it",
    form: `btree (${[...parents, id].join(", ")})`,
    // What comes before is fixed where it is used.
    accepts: (index) => index.startsWith("btree (") && index.includes(`${[...parents, id].join(", ")})`),
  };

  // Those that are left out of a list may be most of all there are.
  const lives =
    keepsDeleted(definition) && isInOrg(definition)
      ? [exactly("lists leave out what is deleted", `btree (${[...parents, id].join(", ")})${live}`)]
      : [];
  // One that can be read in order would be taken for lists, with the rows of all other orgs.
  const alone =
    isNamed(definition) && storage.key[0] !== id ? [exactly("it is looked up by its id alone", `hash (${id})`)] : [];

  const orders = Object.entries(listFieldsOf(definition, place)).flatMap(([name, field]) => {
    const column = orderedColumn(field);
    // By id there is the default; of what is in one parent in small numbers each is looked at.
    if (column === undefined || column === id || storage.labels === "unindexed") return [];
    // Names tell rows apart; with the id such an index would be taken to find ids by names.
    const columns = [...parents, expressionOf(field, column), ...(name === "name" ? [] : [id])];
    return conditions.map((where) =>
      exactly(`lists can be ordered by ${name}`, `btree (${columns.join(", ")})${where}`),
    );
  });

  const due = keepsDeleted(definition)
    ? [exactly("what is due is looked for", "btree (purge_time) WHERE (purge_time IS NOT NULL)")]
    : [];
  const expiring =
    storage.expireField === undefined
      ? []
      : [exactly("what has expired is looked for", "btree (expire_time) WHERE (expire_time IS NOT NULL)")];

  const references = storage.references
    .filter(({ to }) => registry.definitionOf(to).storage.key.includes("org_id"))
    .map(({ column }): ExpectedIndex => {
      const form = `btree (org_id, ${column}`;
      return {
        purpose: `it goes with what ${column} refers to`,
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

/** What lists order by (filters/keyset.ts), as the catalog writes it. */
function expressionOf(field: FilterField, column: string): string {
  const order = "order" in field ? field.order : undefined;
  if (order?.isText === true) return `${column} COLLATE "C"`;
  return order?.isNullable === true ? `COALESCE(${column}, 'infinity'::timestamp with time zone)` : column;
}
