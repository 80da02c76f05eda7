import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Reference } from "../paths/resource-path.ts";

/** What a level of a path can name: the rows of a table, or of its alias in a statement. */
export interface PathLevel {
  readonly alias: string;
  /** Whether a deleted row stays in the table for a while. */
  readonly keepsDeleted: boolean;
}

/** The levels that more than the resources themselves know. */
export const customerLevel: PathLevel = { alias: "customers", keepsDeleted: true };
export const orgLevel: PathLevel = { alias: "orgs", keepsDeleted: true };
export const projectLevel: PathLevel = { alias: "projects", keepsDeleted: true };

/**
 * The condition that a row is the one that `reference` names. A name and `-` find only rows that are not deleted (others
 * may have taken the name); an id finds those too.
 *
 * @param value what stands for the reference's value in the statement; a parameter by default.
 */
export function matchesReference(
  { alias, keepsDeleted }: PathLevel,
  reference: Pick<Reference, "by">,
  value: Expression<unknown> = sql`${"value" in reference ? reference.value : null}`,
): RawBuilder<SqlBool> {
  const live = keepsDeleted ? sql<SqlBool>`${sql.ref(`${alias}.delete_time`)} is null` : sql<SqlBool>`true`;
  switch (reference.by) {
    case "any":
      return live;
    case "id":
      return sql<SqlBool>`${sql.ref(`${alias}.id`)} = ${value}`;
    case "name":
      return sql<SqlBool>`(${sql.ref(`${alias}.name`)} = ${value} and ${live})`;
  }
}

/** The condition that a joined row stands at a path: `levels` are those of the path, from the top. */
export function matchesPath(levels: readonly PathLevel[], references: readonly Reference[]): RawBuilder<SqlBool> {
  const conditions = references.map((reference, index) => {
    const level = levels[index];
    if (level === undefined) throw new Error(`no table for level ${index} of a path`);
    return matchesReference(level, reference);
  });
  return conditions.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}
