import type { ServiceImpl } from "@connectrpc/connect";
import { sql } from "kysely";
import { GroupsService } from "../../../gen/iam/v1alpha/group_pb.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { removeScimGroups } from "../scim-sources/store.ts";
import { groupDefinition } from "./definition.ts";

export function createGroupsService(dependencies: ResourceDependencies): ServiceImpl<typeof GroupsService> {
  return createStandardService(GroupsService, dependencies, groupDefinition, {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, _parent, groups) {
        return groups.map(() => ({ columns: {}, joined: joinedOrgColumns(transaction) }));
      },
    },
    async beforeRemove({ db, org }, rows) {
      const ids = rows.map(({ id }) => id);
      await removeScimGroups(db, org, sql`group_id = any(${ids}::uuid[])`);
    },
    revokes: ({ step, row }) => (step === "remove" ? [{ kind: "group", groupId: row.id, memberId: null }] : []),
    mayLeaveNoOwner: ["remove"],
  });
}
