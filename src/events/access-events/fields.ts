import { type RawBuilder, sql } from "kysely";
import { type FilterFields, enumerated, scalar, text } from "../../filters/filter-fields.ts";

/** Stands for a path in a filter, which is found by the id of what it names. */
export const callerPath = sql.ref("access_events.caller_path");

/** Who called, as the messages name it. */
const callerType: RawBuilder<string> = sql<string>`(case
  when access_events.actor_id is null then 'UNKNOWN'
  when access_events.actor_org_id = access_events.org_id then 'MEMBER'
  else 'FOREIGN' end)`;

/** What of a member of another org is hidden from most readers is not found by them either. */
const shown = (column: string): RawBuilder<string | null> => sql<string | null>`(case
  when access_events.actor_id is null or access_events.actor_org_id = access_events.org_id
  then ${sql.ref(`access_events.${column}`)}::text end)`;

/** The fields by which sign-ins and refused calls are filtered. */
export const accessEventFields: FilterFields = {
  caller_path: { kind: "text", value: callerPath, isSearched: false },
  caller_type: enumerated(callerType, ["MEMBER", "FOREIGN", "UNKNOWN"]),
  credential_id: { kind: "text", value: shown("credential_id"), isSearched: false },
  kind: enumerated("access_events.kind", ["SIGN_IN_SUCCEEDED", "SIGN_IN_FAILED", "CALL_REFUSED"]),
  method: text("access_events.method"),
  reason: text("access_events.reason"),
  reason_detail: text("access_events.reason_detail"),
  remote_address: { kind: "text", value: shown("remote_address"), isSearched: false },
  request_id: { kind: "text", value: shown("request_id"), isSearched: false },
  resource_path: text("access_events.resource_path"),
  time: scalar("timestamp", "access_events.time", { orderable: true }),
};
