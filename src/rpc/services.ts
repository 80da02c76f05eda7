import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { ApiKeysService } from "../../gen/iam/v1alpha/api_key_pb.ts";
import { CustomersService } from "../../gen/iam/v1alpha/customer_pb.ts";
import { GroupMembersService } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { GroupsService } from "../../gen/iam/v1alpha/group_pb.ts";
import { MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import { ProjectsService } from "../../gen/iam/v1alpha/project_pb.ts";
import { RoleBindingsService } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { RolesService } from "../../gen/iam/v1alpha/role_pb.ts";
import { AuthorizationApiService } from "../../gen/authzen/v1/authorization_api_pb.ts";
import { createAuthorizationApiService } from "../access-checks/authzen/service.ts";
import type { AccessDependencies } from "../access-checks/dependencies.ts";
import { createAccessService } from "../access-checks/service.ts";
import { createApiKeysService } from "../api-keys/service.ts";
import { createCustomersService } from "../customers/service.ts";
import { createGroupMembersService } from "../group-members/service.ts";
import { createGroupsService } from "../groups/service.ts";
import { createMembersService } from "../members/service.ts";
import { createOrgsService } from "../orgs/service.ts";
import { createProjectsService } from "../projects/service.ts";
import { createRoleBindingsService } from "../role-bindings/service.ts";
import { type RoleDependencies, createRolesService } from "../roles/service.ts";

/** Every service of the API. */
export const services: readonly DescService[] = [
  CustomersService,
  OrgsService,
  ProjectsService,
  MembersService,
  ApiKeysService,
  GroupsService,
  GroupMembersService,
  RolesService,
  RoleBindingsService,
  AccessService,
];

/** Services that others have laid down; they are served as their standards say, over REST only. */
export const standardServices: readonly DescService[] = [AuthorizationApiService];

/** What the handlers of all services need. */
export type ServiceDependencies = RoleDependencies & AccessDependencies;

/** The handlers of every service; the same ones for REST and RPC. */
export function createServices(dependencies: ServiceDependencies): (router: ConnectRouter) => void {
  const customers = createCustomersService(dependencies);
  const orgs = createOrgsService(dependencies);
  const projects = createProjectsService(dependencies);
  const members = createMembersService(dependencies);
  const apiKeys = createApiKeysService(dependencies);
  const groups = createGroupsService(dependencies);
  const groupMembers = createGroupMembersService(dependencies);
  const roles = createRolesService(dependencies);
  const roleBindings = createRoleBindingsService(dependencies);
  const access = createAccessService(dependencies);
  return (router) => {
    router.service(CustomersService, customers);
    router.service(OrgsService, orgs);
    router.service(ProjectsService, projects);
    router.service(MembersService, members);
    router.service(ApiKeysService, apiKeys);
    router.service(GroupsService, groups);
    router.service(GroupMembersService, groupMembers);
    router.service(RolesService, roles);
    router.service(RoleBindingsService, roleBindings);
    router.service(AccessService, access);
  };
}

export function createStandardServices(dependencies: ServiceDependencies): (router: ConnectRouter) => void {
  const authorizationApi = createAuthorizationApiService(dependencies);
  return (router) => {
    router.service(AuthorizationApiService, authorizationApi);
  };
}
