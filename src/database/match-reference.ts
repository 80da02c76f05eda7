import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Reference } from "../paths/parse-path.ts";

/** A level of a path: the table, or its alias in a statement, with the rows that it can name. */
export interface PathLevel {
  readonly alias: string;
  /** Whether deleted rows stay in the table for a while. */
  readonly keepsDeleted: boolean;
  /** Whether the rows have no names: only their ids find them. */
  readonly isUnnamed?: boolean;
}

/** The levels that are also used outside of their resources' definitions. */
export const customerLevel: PathLevel = { alias: "customers", keepsDeleted: true };
export const orgLevel: PathLevel = { alias: "orgs", keepsDeleted: true };
export const projectLevel: PathLevel = { alias: "projects", keepsDeleted: true };
export const serviceLevel: PathLevel = { alias: "services", keepsDeleted: false };

/**
 * Returns the condition that a row is the one that `reference` names. A name and `-` match only rows that are not deleted,
 * because deleted rows can have the name of a living one; an id matches deleted rows too.
 *
 * @param value the expression for the reference's value; a parameter by default.
 */
export function matchesReference(
  { alias, keepsDeleted, isUnnamed = false }: PathLevel,
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
      // The value is in the statement, because each parameter needs a type.
      if (isUnnamed) return sql<SqlBool>`(${value} = '' and false)`;
      return sql<SqlBool>`(${sql.ref(`${alias}.name`)} = ${value} and ${live})`;
  }
}

/** Returns the condition that a joined row is at a path, whose `levels` are given from the top. */
export function matchesPath(levels: readonly PathLevel[], references: readonly Reference[]): RawBuilder<SqlBool> {
  const conditions = references.map((reference, index) => {
    const level = levels[index];
    if (level === undefined) throw new Error(`no table for level ${index} of a path`);
    return matchesReference(level, reference);
  });
  return conditions.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}
