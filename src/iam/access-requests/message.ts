import {
  type AccessRequest,
  type AccessRequest_Decision,
  AccessRequest_State,
} from "../../../gen/iam/v1alpha/access_request_pb.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import { versionFields } from "../../standard-methods/named-fields.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import { formerMemberPath } from "../members/message.ts";
import { predefinedRolePath } from "../roles/message.ts";
import type { AccessRequestRow } from "./store.ts";

export function toAccessRequest(row: AccessRequestRow): AccessRequest {
  const decision = decisionOf(row);
  return {
    $typeName: "iam.v1alpha.AccessRequest",
    path: accessRequestPath(row),
    id: row.id,
    rolePath: wantedRolePath(row),
    resourcePath: wantedResourcePath(row),
    reason: row.reason,
    expireTime: toTimestamp(row.expire_time),
    memberPath: askingMemberPath(row),
    memberId: row.member_id ?? row.supporter_id ?? "",
    state: AccessRequest_State[row.current_state],
    lapseTime: toTimestamp(row.lapse_time),
    ...(decision && { decision }),
    requiredApprovals: row.current_state === "PENDING" ? row.wanted_approvals : 0,
    ...firstApprovalOf(row),
    // Entries of earlier versions do not have it.
    breakGlass: row.break_glass ?? false,
    roleBindingPath: row.current_state === "APPROVED" ? bindingPath(row) : "",
    enderPath: pathOfPerson(row, "ender"),
    endTime: toTimestamp(endTimeOf(row)),
    ...versionFields(row),
  };
}

export function accessRequestPath(
  row: Pick<AccessRequestRow, "id" | "org_id" | "org_name" | "org_delete_time">,
): string {
  return formatPath(patterns.AccessRequest, orgPathName(row), `@${row.id}`);
}

/** Returns the path of the role; with its id if the role no longer exists. */
function wantedRolePath(row: AccessRequestRow): string {
  if (row.predefined_role !== null) return predefinedRolePath(row.predefined_role);
  return formatPath(patterns.Role, orgPathName(row), row.role_name ?? `@${row.role_id}`);
}

export function wantedResourcePath(row: AccessRequestRow): string {
  const project = projectPathName(row);
  return project === undefined
    ? formatPath(patterns.Org, orgPathName(row))
    : formatPath(patterns.Project, orgPathName(row), project);
}

/** Returns the path of who asks: of a member of the platform with the name that it had then, whatever it is called now. */
export function askingMemberPath(row: AccessRequestRow): string {
  const { member_id: id, member_name: name, member_delete_time: deleteTime } = row;
  if (id === null || name === null) {
    return formatPath(patterns.Member, row.supporter_org_name ?? "system", row.supporter_name ?? "");
  }
  return formatPath(patterns.Member, orgPathName(row), pathName({ id, name, delete_time: deleteTime }));
}

function bindingPath(row: AccessRequestRow): string {
  if (row.binding_name === null) return "";
  const project = projectPathName(row);
  return project === undefined
    ? formatPath(patterns.RoleBinding, orgPathName(row), row.binding_name)
    : formatPath(otherPatterns.projectRoleBinding, orgPathName(row), project, row.binding_name);
}

function projectPathName({
  project_id: id,
  project_name: name,
  project_delete_time: deleteTime,
}: AccessRequestRow): string | undefined {
  return id === null ? undefined : pathName({ id, name: name ?? "", delete_time: deleteTime });
}

function decisionOf(row: AccessRequestRow): AccessRequest_Decision | undefined {
  const decideTime = toTimestamp(row.decide_time);
  if (decideTime === undefined) return undefined;
  return {
    $typeName: "iam.v1alpha.AccessRequest.Decision",
    deciderPath: pathOfPerson(row, "decider"),
    approved: row.state !== "DECLINED",
    message: row.decision_message,
    decideTime,
  };
}

/** Entries of earlier versions do not have it. */
function firstApprovalOf(row: AccessRequestRow): Partial<Pick<AccessRequest, "firstApproval">> {
  const decideTime = toTimestamp(row.approve_time ?? null);
  if (decideTime === undefined) return {};
  const deciderPath = pathOfPerson(row, "approver");
  const message = row.approval_message ?? "";
  const $typeName = "iam.v1alpha.AccessRequest.Decision";
  return { firstApproval: { $typeName, deciderPath, approved: true, message, decideTime } };
}

function endTimeOf(row: AccessRequestRow): Date | null {
  switch (row.current_state) {
    case "DECLINED":
      return row.decide_time;
    case "EXPIRED":
      return row.lapse_time;
    case "ENDED":
      // A binding that is gone expired, or was removed by another method.
      return row.end_time ?? (row.has_expired ? row.expire_time : null);
    default:
      return row.end_time;
  }
}

export function pathOfPerson(row: AccessRequestRow, who: "approver" | "decider" | "ender"): string {
  return formerMemberPath({
    orgId: row[`${who}_org_id`],
    orgName: row[`${who}_org_name`],
    orgDeleteTime: row[`${who}_org_delete_time`],
    id: row[`${who}_id`],
    name: row[`${who}_name`],
    deleteTime: row[`${who}_delete_time`],
  });
}
