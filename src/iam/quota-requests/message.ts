import { type QuotaRequest, QuotaRequest_State } from "../../../gen/iam/v1alpha/quota_request_pb.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { patterns, singletonPath } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import { formerMemberPath } from "../members/message.ts";
import type { QuotaRequestRow } from "./store.ts";

export function toQuotaRequest(row: QuotaRequestRow): QuotaRequest {
  return {
    $typeName: "iam.v1alpha.QuotaRequest",
    path: quotaRequestPath(row),
    ...namedFields(row),
    quotaPath: quotaPathOf(row),
    limits: row.limits,
    memberPath: memberPathOf(row, "actor"),
    state: QuotaRequest_State[row.state],
    grantedLimits: row.granted_limits,
    decisionMessage: row.decision_message,
    deciderPath: memberPathOf(row, "decider"),
    decideTime: toTimestamp(row.decide_time),
  };
}

export function quotaRequestPath(row: QuotaRequestRow): string {
  return formatPath(patterns.QuotaRequest, orgPathName(row), row.name);
}

function quotaPathOf(row: QuotaRequestRow): string {
  const { project_id: id, project_name: name, project_delete_time: deleteTime } = row;
  const parent =
    id === null || name === null
      ? formatPath(patterns.Org, orgPathName(row))
      : formatPath(patterns.Project, orgPathName(row), pathName({ id, name, delete_time: deleteTime }));
  return singletonPath("Quota", parent);
}

function memberPathOf(row: QuotaRequestRow, who: "actor" | "decider"): string {
  return formerMemberPath({
    orgId: row[`${who}_org_id`],
    orgName: row[`${who}_org_name`],
    orgDeleteTime: row[`${who}_org_delete_time`],
    id: row[`${who}_id`],
    name: row[`${who}_name`],
    deleteTime: row[`${who}_delete_time`],
  });
}
