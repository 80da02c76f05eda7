import type { RoleSchema } from "../../../gen/iam/v1alpha/role_pb.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import type { ResourceDependencies, ResourceRules } from "../../standard-methods/rules.ts";
import type { RoleRow } from "./store.ts";

/** Returns the rules of custom roles. */
export function createRoleRules({
  escalation,
}: ResourceDependencies): ResourceRules<"roles", RoleRow, typeof RoleSchema> {
  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      prepare: (transaction, _parent, roles, atItem) =>
        mapItems(roles, atItem, async ({ permissions }) => {
          await escalation.requireMayDefine(transaction, permissions);
          return { columns: { permissions: [...permissions] }, joined: joinedOrgColumns(transaction) };
        }),
    },
    async change(transaction, row, { permissions }) {
      const added = permissions.filter((permission) => !row.permissions.includes(permission));
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
