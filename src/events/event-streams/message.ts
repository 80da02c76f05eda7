import {
  type EventStream,
  EventStream_DisabledReason as Reason,
  EventStream_State as State,
  EventStream_SubjectFormat as SubjectFormat,
} from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import { byId, formatPath, orgPathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import type { EventStreamRow } from "./store.ts";

export function toEventStream(row: EventStreamRow): EventStream {
  return {
    $typeName: "iam.v1alpha.EventStream",
    path: eventStreamPath(row),
    ...namedFields(row),
    audience: row.audience,
    pushUrl: row.push_url,
    pushAuthorization: "",
    eventTypes: row.event_types,
    subjectFormat: SubjectFormat[row.subject_format],
    state: State[row.state],
    disabledReason: row.disabled_reason === null ? Reason.DISABLED_REASON_UNSPECIFIED : Reason[row.disabled_reason],
    // Of any org, and may no longer exist.
    memberPath: formatPath(patterns.Member, byId(row.member_org_id), byId(row.member_id)),
  };
}

export function eventStreamPath(row: EventStreamRow): string {
  return formatPath(patterns.EventStream, orgPathName(row), row.name);
}
