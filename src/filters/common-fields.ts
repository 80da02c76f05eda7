import { type Expression, sql } from "kysely";
import { type FilterField, type TextField, enumerated, scalar, text, textMap } from "./filter-fields.ts";

/** A level of a path: its collection, and the table or alias with the names in it. */
export interface TextLevel {
  readonly collection: string;
  readonly alias: string;
  /** Whether a path contains the id of a deleted row in place of its name. */
  readonly keepsDeleted: boolean;
  /** Whether the rows have no names, so that paths always contain their ids. */
  readonly isUnnamed?: boolean;
}

/** Returns a field with a path in its output form: `/orgs/acme/members/alice`. */
export function pathText(levels: readonly TextLevel[]): TextField {
  const segments = levels.map(({ collection, ...level }) => sql`${sql.lit(`/${collection}/`)} || ${shownName(level)}`);
  return { kind: "text", value: sql`(${sql.join(segments, sql` || `)})`, isSearched: false };
}

function shownName({ alias, keepsDeleted, isUnnamed = false }: Omit<TextLevel, "collection">): Expression<unknown> {
  const [id, name] = [sql.ref(`${alias}.id`), sql.ref(`${alias}.name`)];
  if (isUnnamed) return sql`'@' || ${id}`;
  return keepsDeleted
    ? sql`case when ${sql.ref(`${alias}.delete_time`)} is null then ${name} else '@' || ${id} end`
    : name;
}

/** Returns the `etag` field of a resource: the revision that last changed it. */
export function etagText(table: string): FilterField {
  return { kind: "text", value: sql`${sql.ref(`${table}.changed_revision`)}::text`, isSearched: false };
}

export const namedFilterFields = (table: string) => ({
  etag: etagText(table),
  id: scalar("uuid", `${table}.id`, { orderable: true }),
  name: text(`${table}.name`, { searched: true, orderable: true }),
  display_name: text(`${table}.display_name`, { searched: true, orderable: true }),
  description: text(`${table}.description`, { searched: true }),
  labels: textMap(`${table}.labels`, { labels: true }),
  create_time: scalar("timestamp", `${table}.create_time`, { orderable: true }),
  update_time: scalar("timestamp", `${table}.update_time`, { orderable: true }),
});

/** Returns the fields of resources that stay readable after they are deleted. */
export const deletionFilterFields = (table: string) => ({
  delete_time: scalar("timestamp", `${table}.delete_time`),
  purge_time: scalar("timestamp", `${table}.purge_time`),
});

/**
 * Returns the `state` field of such a resource: the value of its column, or DELETED.
 *
 * @param liveStates empty for a resource that is ACTIVE until it is deleted, and has no column for its state.
 */
export function deletableState(table: string, liveStates: readonly string[]): FilterField {
  const [live, names] = liveStates.length === 0 ? [sql`'ACTIVE'`, ["ACTIVE"]] : [sql.ref(`${table}.state`), liveStates];
  const state: Expression<string> = sql`
    case when ${sql.ref(`${table}.delete_time`)} is null then ${live} else 'DELETED' end`;
  return enumerated(state, [...names, "DELETED"]);
}
