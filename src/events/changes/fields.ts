import { type RawBuilder, sql } from "kysely";
import { eraseMethods } from "../../changes/erase-from-log.ts";
import { type FilterFields, enumerated, scalar, text } from "../../filters/filter-fields.ts";

/** What was done, as the messages name it. */
export const changeType: RawBuilder<string> = sql<string>`(case
  when changes.method in (${sql.join(eraseMethods.map((method) => sql.lit(method)))}) then 'ERASED'
  when changes.resource_type in ('ChangeLog', 'SupportAccess') then 'READ'
  when changes.end_time is not null then 'EXPIRED'
  when changes.before is null then 'CREATED'
  when changes.after is null then 'DELETED'
  else 'UPDATED' end)`;

/** Stand for the paths in a filter, which are found by the ids of what they name: `resolvePaths` replaces them. */
export const actorPath = sql.ref("changes.actor_path");
export const resourcePath = sql.ref("changes.resource_path");

/** Where a call of a member of another org came from is hidden from most readers, and so is its request id. */
const shownRequestId = sql<string>`(case
  when changes.actor_org_id is null or changes.actor_org_id = changes.org_id then changes.request_id end)`;

/** The fields by which changes are filtered. */
export const changeFields: FilterFields = {
  actor_path: { kind: "text", value: actorPath, isSearched: false },
  method: text("changes.method"),
  request_id: { kind: "text", value: shownRequestId, isSearched: false },
  resource_id: scalar("uuid", "changes.resource_id"),
  resource_path: { kind: "text", value: resourcePath, isSearched: false },
  resource_type: text("changes.resource_type"),
  revision: scalar("uuid", "changes.revision"),
  time: scalar("timestamp", "changes.time", { orderable: true }),
  type: enumerated(changeType, ["CREATED", "UPDATED", "DELETED", "EXPIRED", "READ", "ERASED"]),
};

/** The same for callers who may get the members of all orgs. */
export const allChangeFields: FilterFields = { ...changeFields, request_id: text("changes.request_id") };
