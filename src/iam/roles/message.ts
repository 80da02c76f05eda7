import { create } from "@bufbuild/protobuf";
import { type Role, RoleSchema } from "../../../gen/iam/v1alpha/role_pb.ts";
import { formatPath, orgPathName } from "../../paths/format-path.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import type { PredefinedRole } from "./predefined-roles.ts";
import type { RoleRow } from "./store.ts";

export function toRole(row: RoleRow): Role {
  return {
    $typeName: "iam.v1alpha.Role",
    path: rolePath(row),
    ...namedFields(row),
    permissions: row.permissions,
  };
}

export function rolePath(row: RoleRow): string {
  return formatPath(patterns.Role, orgPathName(row), row.name);
}

export function toPredefinedRole({ id, name, displayName, description, shown }: PredefinedRole): Role {
  const path = predefinedRolePath(name);
  return create(RoleSchema, { path, id, name, displayName, description, permissions: [...shown] });
}

export function predefinedRolePath(name: string): string {
  return formatPath(otherPatterns.predefinedRole, name);
}
