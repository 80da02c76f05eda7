import { type Expression, sql } from "kysely";
import { type FilterField, enumerated, scalar, text, textMap } from "./filter-fields.ts";

/** The level of a path: its collection, and the table, or its alias, that holds the names there. */
interface TextLevel {
  readonly collection: string;
  readonly alias: string;
  /** A deleted row stands in a path by its id. */
  readonly keepsDeleted: boolean;
}

/** A field that holds a path, as it is rendered: `/orgs/acme/members/alice`. */
export function pathText(levels: readonly TextLevel[]): FilterField {
  const segments = levels.map(({ collection, alias, keepsDeleted }) => {
    const [id, name] = [sql.ref(`${alias}.id`), sql.ref(`${alias}.name`)];
    const shown = keepsDeleted
      ? sql`case when ${sql.ref(`${alias}.delete_time`)} is null then ${name} else '@' || ${id} end`
      : name;
    return sql`${sql.lit(`/${collection}/`)} || ${shown}`;
  });
  return { kind: "text", value: sql`(${sql.join(segments, sql` || `)})`, isSearched: false };
}

/** The `etag` of a resource: the revision that last changed it. */
export function etagText(table: string): FilterField {
  return { kind: "text", value: sql`${sql.ref(`${table}.changed_revision`)}::text`, isSearched: false };
}

/** The fields of every resource with a name of its own. */
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

/** Those of resources that stay readable when they are deleted. */
export const deletionFilterFields = (table: string) => ({
  delete_time: scalar("timestamp", `${table}.delete_time`),
  purge_time: scalar("timestamp", `${table}.purge_time`),
});

/**
 * The `state` of such a resource: what its column says while it lives, then DELETED.
 *
 * @param liveStates none for a resource that is always ACTIVE while it lives, and has no column for it.
 */
export function deletableState(table: string, liveStates: readonly string[]): FilterField {
  const [live, names] = liveStates.length === 0 ? [sql`'ACTIVE'`, ["ACTIVE"]] : [sql.ref(`${table}.state`), liveStates];
  const state: Expression<string> = sql`
    case when ${sql.ref(`${table}.delete_time`)} is null then ${live} else 'DELETED' end`;
  return enumerated(state, [...names, "DELETED"]);
}
