import { create } from "@bufbuild/protobuf";
import {
  type AccessEvent,
  AccessEventSchema,
  AccessEvent_CallerType as CallerType,
  AccessEvent_Kind,
} from "../../../gen/iam/v1alpha/access_event_pb.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import { memberPathOf } from "../changes/member-path.ts";
import type { AccessEventRow } from "./store.ts";

/** Whether the caller of an event is of another org. */
function isForeign({ org_id: orgId, actor_id: actorId, actor_org_id: actorOrgId }: AccessEventRow): boolean {
  return actorId !== null && actorOrgId !== orgId;
}

const maxCount = 2 ** 31 - 1;

/** @param shown whether it is shown who of another org called, and from where. */
export function toAccessEvent(row: AccessEventRow, shown: boolean): AccessEvent {
  const { actor_id: actorId, impersonator_id: impersonatorId } = row;
  const known = isForeign(row) ? CallerType.FOREIGN : CallerType.MEMBER;
  const who = {
    callerPath: memberPathOf(row, actorId, row.actor_name, row.actor_delete_time),
    impersonatorPath: memberPathOf(row, impersonatorId, row.impersonator_name, row.impersonator_delete_time),
    credentialId: row.credential_id ?? "",
    remoteAddress: row.remote_address ?? "",
    requestId: row.request_id ?? "",
  };
  return create(AccessEventSchema, {
    id: row.id,
    time: toTimestamp(row.time),
    lastTime: toTimestamp(row.last_time),
    count: Math.min(Number(row.count), maxCount),
    kind: AccessEvent_Kind[row.kind],
    callerType: actorId === null ? CallerType.UNKNOWN : known,
    ...((shown || !isForeign(row)) && who),
    method: row.method,
    resourcePath: row.resource_path,
    reason: row.reason,
    reasonDetail: row.reason_detail,
  });
}
