import type { ServiceImpl } from "@connectrpc/connect";
import { GroupsService } from "../../../gen/iam/v1alpha/group_pb.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
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
    revokes: ({ step, row }) => (step === "remove" ? [{ kind: "group", groupId: row.id, memberId: null }] : []),
    mayLeaveNoOwner: ["remove"],
  });
}
