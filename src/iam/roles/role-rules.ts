import type { RoleSchema } from "../../../gen/iam/v1alpha/role_pb.ts";
import { invalidFields } from "../../errors/service-error.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import type { ResourceRules } from "../../standard-methods/rules.ts";
import { maxViolations } from "../../validation/validate-message.ts";
import { findUnknownPermission } from "./find-unknown-permission.ts";
import type { RoleDependencies } from "./role-dependencies.ts";
import type { RoleRow } from "./store.ts";

export function createRoleRules({
  escalation,
  knownPermissions,
}: RoleDependencies): ResourceRules<"roles", RoleRow, typeof RoleSchema> {
  /**
   * Checks that this service has the permissions that are in its areas. What a role has already may be of a newer version.
   *
   * @param all the permissions of the role, among which these are.
   */
  const requireKnown = (permissions: readonly string[], all: readonly string[]): void => {
    const violations = permissions.flatMap((permission) => {
      const description = findUnknownPermission(permission, knownPermissions);
      const field = `role.permissions[${all.indexOf(permission)}]`;
      return description === undefined ? [] : [{ field, description, rule: "permission" }];
    });
    if (violations.length > 0) throw invalidFields(violations.slice(0, maxViolations));
  };

  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      prepare: (transaction, _parent, roles, atItem) =>
        mapItems(roles, atItem, async ({ permissions }) => {
          requireKnown(permissions, permissions);
          await escalation.requireMayDefine(transaction, permissions);
          return { columns: { permissions: [...permissions] }, joined: joinedOrgColumns(transaction) };
        }),
    },
    async change(transaction, row, { permissions }) {
      const added = permissions.filter((permission) => !row.permissions.includes(permission));
      requireKnown(added, permissions);
      if (added.length > 0) await escalation.requireMayDefine(transaction, added);
      return { permissions: [...permissions] };
    },
    revokes(write) {
      const kept = write.step === "update" ? write.after.permissions : [];
      const permissions = write.row.permissions.filter((permission) => !kept.includes(permission));
      return permissions.length === 0
        ? []
        : [{ kind: "permissions", roleId: write.row.id, permissions, memberId: null }];
    },
  };
}
