import { type RoleBinding } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import { predefinedRolePath } from "../roles/message.ts";
import type { RoleBindingRow } from "./store.ts";

export function toRoleBinding(row: RoleBindingRow): RoleBinding {
  return {
    $typeName: "iam.v1alpha.RoleBinding",
    path: roleBindingPath(row),
    ...namedFields(row),
    rolePath: boundRolePath(row),
    subjectPath: subjectPath(row),
    startTime: toTimestamp(row.start_time),
    expireTime: toTimestamp(row.expire_time),
    condition: row.condition,
  };
}

export function roleBindingPath(row: RoleBindingRow): string {
  switch (row.scope_type) {
    case "PLATFORM":
      return formatPath(otherPatterns.platformRoleBinding, row.name);
    case "CUSTOMER":
      return formatPath(otherPatterns.customerRoleBinding, nameIn(row, "customer"), row.name);
    case "SERVICE":
      return formatPath(otherPatterns.serviceRoleBinding, row.service_name ?? "", row.name);
    case "ORG":
      return formatPath(patterns.RoleBinding, orgPathName(row), row.name);
    case "PROJECT":
      return formatPath(otherPatterns.projectRoleBinding, orgPathName(row), nameIn(row, "project"), row.name);
  }
}

function boundRolePath(row: RoleBindingRow): string {
  return row.predefined_role === null
    ? formatPath(patterns.Role, orgPathName(row), row.role_name ?? "")
    : predefinedRolePath(row.predefined_role);
}

function subjectPath(row: RoleBindingRow): string {
  return row.member_id === null
    ? formatPath(patterns.Group, orgPathName(row), row.group_name ?? "")
    : formatPath(patterns.Member, orgPathName(row), nameIn(row, "member"));
}

/** Returns the name of the customer, project or member of a binding, as in a path. */
function nameIn(row: RoleBindingRow, kind: "customer" | "project" | "member"): string {
  return pathName({
    id: row[`${kind}_id`] ?? "",
    name: row[`${kind}_name`] ?? "",
    delete_time: row[`${kind}_delete_time`],
  });
}
