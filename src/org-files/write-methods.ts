// The methods by which the resources of files are written.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { ClientsService } from "../../gen/iam/v1alpha/client_pb.ts";
import { GroupMembersService } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { GroupsService } from "../../gen/iam/v1alpha/group_pb.ts";
import { IdentityProvidersService } from "../../gen/iam/v1alpha/identity_provider_pb.ts";
import { MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { ProjectsService } from "../../gen/iam/v1alpha/project_pb.ts";
import { RoleBindingsService } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { RolesService } from "../../gen/iam/v1alpha/role_pb.ts";
import { WebhooksService } from "../../gen/iam/v1alpha/webhook_pb.ts";
import type { FileType } from "./file-resources.ts";

interface WriteMethods {
  readonly batchCreate: DescMethodUnary;
  readonly update: DescMethodUnary;
  readonly batchDelete: DescMethodUnary;
  /** Undefined for what has no states and is deleted for good. */
  readonly transitions?: Readonly<Record<"undelete" | "activate" | "suspend", DescMethodUnary>>;
  /** The field of requests with the resource, by its local name. */
  readonly field: string;
}

export const writeMethods: Readonly<Record<FileType, WriteMethods>> = {
  member: {
    batchCreate: MembersService.method.batchCreateMembers,
    update: MembersService.method.updateMember,
    batchDelete: MembersService.method.batchDeleteMembers,
    transitions: {
      undelete: MembersService.method.undeleteMember,
      activate: MembersService.method.activateMember,
      suspend: MembersService.method.suspendMember,
    },
    field: "member",
  },
  role: {
    batchCreate: RolesService.method.batchCreateRoles,
    update: RolesService.method.updateRole,
    batchDelete: RolesService.method.batchDeleteRoles,
    field: "role",
  },
  group: {
    batchCreate: GroupsService.method.batchCreateGroups,
    update: GroupsService.method.updateGroup,
    batchDelete: GroupsService.method.batchDeleteGroups,
    field: "group",
  },
  project: {
    batchCreate: ProjectsService.method.batchCreateProjects,
    update: ProjectsService.method.updateProject,
    batchDelete: ProjectsService.method.batchDeleteProjects,
    transitions: {
      undelete: ProjectsService.method.undeleteProject,
      activate: ProjectsService.method.activateProject,
      suspend: ProjectsService.method.suspendProject,
    },
    field: "project",
  },
  subgroup: {
    batchCreate: GroupMembersService.method.batchCreateSubgroups,
    update: GroupMembersService.method.updateSubgroup,
    batchDelete: GroupMembersService.method.batchDeleteSubgroups,
    field: "subgroup",
  },
  membership: {
    batchCreate: GroupMembersService.method.batchCreateGroupMembers,
    update: GroupMembersService.method.updateGroupMember,
    batchDelete: GroupMembersService.method.batchDeleteGroupMembers,
    field: "groupMember",
  },
  "role binding": {
    batchCreate: RoleBindingsService.method.batchCreateRoleBindings,
    update: RoleBindingsService.method.updateRoleBinding,
    batchDelete: RoleBindingsService.method.batchDeleteRoleBindings,
    field: "roleBinding",
  },
  "identity provider": {
    batchCreate: IdentityProvidersService.method.batchCreateIdentityProviders,
    update: IdentityProvidersService.method.updateIdentityProvider,
    batchDelete: IdentityProvidersService.method.batchDeleteIdentityProviders,
    field: "identityProvider",
  },
  client: {
    batchCreate: ClientsService.method.batchCreateClients,
    update: ClientsService.method.updateClient,
    batchDelete: ClientsService.method.batchDeleteClients,
    field: "client",
  },
  webhook: {
    batchCreate: WebhooksService.method.batchCreateWebhooks,
    update: WebhooksService.method.updateWebhook,
    batchDelete: WebhooksService.method.batchDeleteWebhooks,
    field: "webhook",
  },
};
