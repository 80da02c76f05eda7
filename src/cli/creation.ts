import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateGroupMemberRequestSchema,
  CreateSubgroupRequestSchema,
} from "../../gen/iam/v1alpha/group_member_pb.ts";
import type { CreateGroupRequestSchema } from "../../gen/iam/v1alpha/group_pb.ts";
import type { CreateMemberRequestSchema } from "../../gen/iam/v1alpha/member_pb.ts";
import type { CreateOrgRequestSchema } from "../../gen/iam/v1alpha/org_pb.ts";
import type { CreateProjectRequestSchema } from "../../gen/iam/v1alpha/project_pb.ts";
import type { CreateRoleBindingRequestSchema } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import type { CreateRoleRequestSchema } from "../../gen/iam/v1alpha/role_pb.ts";
import type { Clients } from "./create-clients.ts";

/** The kinds of resources that an import creates, in order: each depends only on earlier kinds. */
export const kinds = ["org", "member", "group", "project", "subgroup", "membership", "role", "role binding"] as const;

export type Kind = (typeof kinds)[number];

interface Requests extends Record<Kind, DescMessage> {
  readonly org: typeof CreateOrgRequestSchema;
  readonly member: typeof CreateMemberRequestSchema;
  readonly group: typeof CreateGroupRequestSchema;
  readonly project: typeof CreateProjectRequestSchema;
  readonly subgroup: typeof CreateSubgroupRequestSchema;
  readonly membership: typeof CreateGroupMemberRequestSchema;
  readonly role: typeof CreateRoleRequestSchema;
  readonly "role binding": typeof CreateRoleBindingRequestSchema;
}

interface CreationOf<K extends Kind> {
  readonly kind: K;
  /** The path that the resource will have. */
  readonly path: string;
  readonly request: MessageInitShape<Requests[K]>;
}

/** A resource that should exist, and the request that creates it. */
export type Creation = { [K in Kind]: CreationOf<K> }[Kind];

export async function sendCreation(clients: Clients, creation: Creation): Promise<void> {
  switch (creation.kind) {
    case "org":
      await clients.orgs.createOrg(creation.request);
      return;
    case "member":
      await clients.members.createMember(creation.request);
      return;
    case "group":
      await clients.groups.createGroup(creation.request);
      return;
    case "project":
      await clients.projects.createProject(creation.request);
      return;
    case "subgroup":
      await clients.groupMembers.createSubgroup(creation.request);
      return;
    case "membership":
      await clients.groupMembers.createGroupMember(creation.request);
      return;
    case "role":
      await clients.roles.createRole(creation.request);
      return;
    case "role binding":
      await clients.roleBindings.createRoleBinding(creation.request);
      return;
  }
}
