import type { RoleSchema } from "../../gen/iam/v1alpha/role_pb.ts";
import { mapItems } from "../resource/batch/batch-item.ts";
import { orgColumns } from "../resource/named-fields.ts";
import type { ResourceDependencies, ResourceRules } from "../resource/rules.ts";
import type { RoleRow } from "./store.ts";

/** What holds for the roles that orgs make for themselves. */
export function createRoleRules({ grants }: ResourceDependencies): ResourceRules<"roles", RoleRow, typeof RoleSchema> {
  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      prepare: (transaction, _parent, roles, atItem) =>
        mapItems(roles, atItem, async ({ permissions }) => {
          await grants.requireMayDefine(transaction, permissions);
          return { columns: { permissions: [...permissions] }, joined: orgColumns(transaction) };
        }),
    },
    async change(transaction, row, { permissions }) {
      const added = permissions.filter((permission) => !row.permissions.includes(permission));
      if (added.length > 0) await grants.requireMayDefine(transaction, added);
      return { permissions: [...permissions] };
    },
  };
}
