import type { ServiceImpl } from "@connectrpc/connect";
import type { GroupMembersService } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { authorOf, targetOf } from "../access/call.ts";
import { patterns } from "../paths/patterns.ts";
import { required } from "../resource/required.ts";
import type { ResourceDependencies } from "../resource/standard-methods.ts";
import { createMemberships } from "./memberships.ts";
import { toGroupMember, toSubgroup } from "./message.ts";
import { createSubgroups } from "./subgroups.ts";

export function createGroupMembersService(dependencies: ResourceDependencies): ServiceImpl<typeof GroupMembersService> {
  const memberships = createMemberships(dependencies);
  const subgroups = createSubgroups(dependencies);

  return {
    async getGroupMember(_request, context) {
      return toGroupMember(await memberships.get(targetOf(context, patterns.GroupMember)));
    },

    async listGroupMembers(request, context) {
      const { rows, nextPageToken } = await memberships.list(targetOf(context, patterns.Group), request);
      return { members: rows.map(toGroupMember), nextPageToken };
    },

    async createGroupMember(request, context) {
      const member = required(request.groupMember);
      return toGroupMember(await memberships.create(targetOf(context, patterns.Group), member, authorOf(context)));
    },

    async updateGroupMember(request, context) {
      const update = { patch: required(request.groupMember), mask: request.updateMask, field: "group_member" };
      return toGroupMember(
        await memberships.update(targetOf(context, patterns.GroupMember), update, authorOf(context)),
      );
    },

    async deleteGroupMember(request, context) {
      await memberships.delete(targetOf(context, patterns.GroupMember), request.etag, authorOf(context));
      return {};
    },

    async getSubgroup(_request, context) {
      return toSubgroup(await subgroups.get(targetOf(context, patterns.Subgroup)));
    },

    async listSubgroups(request, context) {
      const { rows, nextPageToken } = await subgroups.list(targetOf(context, patterns.Group), request);
      return { subgroups: rows.map(toSubgroup), nextPageToken };
    },

    async createSubgroup(request, context) {
      const subgroup = required(request.subgroup);
      return toSubgroup(await subgroups.create(targetOf(context, patterns.Group), subgroup, authorOf(context)));
    },

    async updateSubgroup(request, context) {
      const update = { patch: required(request.subgroup), mask: request.updateMask, field: "subgroup" };
      return toSubgroup(await subgroups.update(targetOf(context, patterns.Subgroup), update, authorOf(context)));
    },

    async deleteSubgroup(request, context) {
      await subgroups.delete(targetOf(context, patterns.Subgroup), request.etag, authorOf(context));
      return {};
    },
  };
}
