// Fields with the path of what a row refers to. Equality is decided by ids: so an index of the references finds the rows, where the paths of all rows
// would be written and compared.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { type TextLevel, pathText } from "./common-fields.ts";
import type { Column, TextEquals, TextField } from "./filter-fields.ts";
import { scalarTypes } from "./scalar-types.ts";

interface Referred {
  /** What paths are written of, from the top. */
  readonly levels: readonly TextLevel[];
  /** The tables of the levels, joined. */
  readonly tables: RawBuilder<unknown>;
  /** The columns of the row, each with the one of the tables that it is equal to. */
  readonly columns: Readonly<Record<Column, Column>>;
}

const never = sql<SqlBool>`false`;

/** A field with the path of what a row refers to: `/orgs/acme/members/alice`, or with ids, `/orgs/@<id>/members/@<id>`. */
function referencePath({ levels, tables, columns }: Referred): TextField & { readonly equals: TextEquals } {
  const equals: TextEquals = (text) => {
    const [root, ...segments] = text.split("/");
    if (root !== "" || segments.length !== 2 * levels.length) return never;
    const isIt = sql.join(
      levels.map((level, index) => isAtLevel(level, segments[2 * index] ?? "", segments[2 * index + 1] ?? "")),
      sql` and `,
    );
    const find = (column: Column): RawBuilder<unknown> =>
      sql`(select ${sql.ref(column)} from ${tables} where ${isIt} limit 1)`;
    const equalities = Object.entries(columns).map(([own, theirs]) => sql`${sql.ref(own)} = ${find(theirs)}`);
    return sql<SqlBool>`(${sql.join(equalities, sql` and `)})`;
  };
  return { ...pathText(levels), equals };
}

/** Whether a path has a level with this name, or id, as it is shown: of what is deleted, the id alone. */
function isAtLevel({ collection, alias, keepsDeleted }: TextLevel, segment: string, name: string): RawBuilder<SqlBool> {
  if (segment !== collection) return never;
  if (name.startsWith("@")) {
    const id = scalarTypes.uuid.read(name.slice(1));
    return id === undefined ? never : sql<SqlBool>`${sql.ref(`${alias}.id`)} = ${id}::uuid`;
  }
  const isNamed = sql<SqlBool>`${sql.ref(`${alias}.name`)} = ${name}`;
  return keepsDeleted ? sql<SqlBool>`${isNamed} and ${sql.ref(`${alias}.delete_time`)} is null` : isNamed;
}

interface ReferredInOrg {
  readonly table: "groups" | "members" | "roles";
  /** Its name in the statement of the rows; that of the table by default. */
  readonly alias?: string;
  readonly keepsDeleted: boolean;
  /** The columns of the row with the ids of the org and of what it refers to. */
  readonly org: Column;
  readonly id: Column;
}

/** A field with the path of something in the org of the row. */
export function pathInOrg({ table, alias = table, keepsDeleted, org, id }: ReferredInOrg) {
  const [customer, inOrg] = [sql.ref(`${alias}.customer_id`), sql.ref(`${alias}.org_id`)];
  return referencePath({
    levels: [
      { collection: "orgs", alias: "orgs", keepsDeleted: true },
      { collection: table, alias, keepsDeleted },
    ],
    tables: sql`orgs join ${sql.table(table)} as ${sql.id(alias)} on ${customer} = orgs.customer_id and ${inOrg} = orgs.id`,
    columns: { [org]: "orgs.id", [id]: `${alias}.id` },
  });
}

/** A field with the path of the type of a resource: `/services/compute/resourceTypes/instances`. */
export function typePath(id: Column) {
  return referencePath({
    levels: [
      { collection: "services", alias: "services", keepsDeleted: false },
      { collection: "resourceTypes", alias: "resource_types", keepsDeleted: false },
    ],
    tables: sql`services join resource_types on resource_types.service_id = services.id`,
    columns: { [id]: "resource_types.id" },
  });
}
