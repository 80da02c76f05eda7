import type { ServiceImpl } from "@connectrpc/connect";
import { GroupMembersService } from "../../gen/iam/v1alpha/group_member_pb.ts";
import type { ResourceDependencies } from "../resource/resource.ts";
import { completeService, createStandardHandlers } from "../resource/standard-service.ts";
import { createMemberships } from "./memberships.ts";
import { createSubgroups } from "./subgroups.ts";

export function createGroupMembersService(dependencies: ResourceDependencies): ServiceImpl<typeof GroupMembersService> {
  return completeService(GroupMembersService, {
    ...createStandardHandlers(GroupMembersService, dependencies, createMemberships(dependencies)),
    ...createStandardHandlers(GroupMembersService, dependencies, createSubgroups(dependencies)),
  });
}
