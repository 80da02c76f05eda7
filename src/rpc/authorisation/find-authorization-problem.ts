import type { DescMethod } from "@bufbuild/protobuf";
import type { Authorization } from "../../../gen/iam/v1alpha/authorization_pb.ts";
import { isPermission } from "../../access/engine/tables/permission-class.ts";
import { takesField } from "../takes-field.ts";

/** Returns a problem of a method's option, by itself or with its request; undefined if there is none. */
export function findAuthorizationProblem(method: DescMethod, option: Authorization): string | undefined {
  const { permission, anyone, createPermission, renamePermission, listsAllOrgs } = option;
  if (anyone) {
    const asksForMore = [permission, createPermission, renamePermission].some((field) => field !== "") || listsAllOrgs;
    return asksForMore ? "a method that anyone may call must not have a permission" : undefined;
  }
  if (option.unauthenticated) return "a method without authentication must be one that anyone may call";
  if (!isTyped(permission) && !isPermission(permission)) return `the permission ${describePermission(permission)}`;
  const mayCreate = takesField(method, "update_mask") && takesField(method, "allow_missing");
  if (mayCreate && createPermission === "") return "it takes allow_missing, but has no create_permission";
  if (!mayCreate && createPermission !== "") return "it has a create_permission, but does not take allow_missing";
  if (mayCreate && !isPermission(createPermission)) {
    return `the create_permission ${describePermission(createPermission)}`;
  }
  if (renamePermission !== "" && !takesField(method, "update_mask")) {
    return "it has a rename_permission, but does not take update_mask";
  }
  if (renamePermission !== "" && !isPermission(renamePermission)) {
    return `the rename_permission ${describePermission(renamePermission)}`;
  }
  if (listsAllOrgs && !takesField(method, "page_size")) return "it has lists_all_orgs, but does not take page_size";
  return undefined;
}

/** Whether the type of the resource defines the permission: `{service}.{collection}.get`. */
export function isTyped(permission: string): boolean {
  return /^\{service\}\.\{collection\}\.(\w+|\{operation\})$/.test(permission);
}

function describePermission(text: string): string {
  return `${JSON.stringify(text)} is not <area>.<collection>.<verb>`;
}
