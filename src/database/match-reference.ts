import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Reference } from "../paths/resource-path.ts";

/** Tables, or their aliases, whose rows a path can name, and whether a deleted row stays in them for a while. */
const keepsDeleted = {
  customers: true,
  orgs: true,
  projects: true,
  members: true,
  api_keys: false,
  groups: false,
  roles: false,
  role_bindings: false,
  children: false, // groups, as the nested ones of others
};

export type NamedTable = keyof typeof keepsDeleted;

/**
 * The condition that a row is the one that `reference` names. A name and `-` find only rows that are not deleted (others
 * may have taken the name); an id finds those too.
 *
 * @param value what stands for the reference's value in the statement; a parameter by default.
 */
export function matchesReference(
  table: NamedTable,
  reference: Pick<Reference, "by">,
  value: Expression<unknown> = sql`${"value" in reference ? reference.value : null}`,
): RawBuilder<SqlBool> {
  const live = keepsDeleted[table] ? sql<SqlBool>`${sql.ref(`${table}.delete_time`)} is null` : sql<SqlBool>`true`;
  switch (reference.by) {
    case "any":
      return live;
    case "id":
      return sql<SqlBool>`${sql.ref(`${table}.id`)} = ${value}`;
    case "name":
      return sql<SqlBool>`(${sql.ref(`${table}.name`)} = ${value} and ${live})`;
  }
}

/** The condition that a joined row stands at a path: `tables` are those of the path's levels, from the top. */
export function matchesPath(tables: readonly NamedTable[], references: readonly Reference[]): RawBuilder<SqlBool> {
  const conditions = references.map((reference, level) => {
    const table = tables[level];
    if (table === undefined) throw new Error(`no table for level ${level} of a path`);
    return matchesReference(table, reference);
  });
  return conditions.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}
