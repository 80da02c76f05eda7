import type { ServiceImpl } from "@connectrpc/connect";
import { GroupMembersService } from "../../../gen/iam/v1alpha/group_member_pb.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { membershipDefinition } from "./membership-definition.ts";
import { createMembershipRules } from "./membership-rules.ts";
import { subgroupDefinition } from "./subgroup-definition.ts";
import { createSubgroupRules } from "./subgroup-rules.ts";

export function createGroupMembersService(dependencies: ResourceDependencies): ServiceImpl<typeof GroupMembersService> {
  const [memberships, subgroups] = [createMembershipRules(dependencies), createSubgroupRules(dependencies)];
  return completeService(GroupMembersService, {
    ...createStandardHandlers(GroupMembersService, dependencies, membershipDefinition, memberships),
    ...createStandardHandlers(GroupMembersService, dependencies, subgroupDefinition, subgroups),
  });
}
