// Every resource of the service. A new one is a line here: its definition, and what makes its handlers.
import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { apiKeyDefinition } from "./api-keys/definition.ts";
import { createApiKeysService } from "./api-keys/service.ts";
import { customerDefinition } from "./customers/definition.ts";
import { createCustomersService } from "./customers/service.ts";
import { membershipDefinition } from "./group-members/membership-definition.ts";
import { createGroupMembersService } from "./group-members/service.ts";
import { subgroupDefinition } from "./group-members/subgroup-definition.ts";
import { groupDefinition } from "./groups/definition.ts";
import { createGroupsService } from "./groups/service.ts";
import { memberDefinition } from "./members/definition.ts";
import { createMembersService } from "./members/service.ts";
import { orgDefinition } from "./orgs/definition.ts";
import { createOrgsService } from "./orgs/service.ts";
import { projectDefinition } from "./projects/definition.ts";
import { createProjectsService } from "./projects/service.ts";
import type { ResourceDefinition } from "./resource/definition.ts";
import { createRegistry, requireAllDefined } from "./resource/registry.ts";
import { roleBindingDefinition } from "./role-bindings/definition.ts";
import { createRoleBindingsService } from "./role-bindings/service.ts";
import { roleDefinition } from "./roles/definition.ts";
import { type RoleDependencies, createRolesService } from "./roles/service.ts";

/** The resources of one service, and what makes its handlers. */
interface CatalogEntry {
  readonly definitions: readonly [ResourceDefinition, ...ResourceDefinition[]];
  readonly createService: (dependencies: RoleDependencies) => ServiceImpl<DescService>;
}

export const catalog: readonly CatalogEntry[] = [
  { definitions: [customerDefinition], createService: createCustomersService },
  { definitions: [orgDefinition], createService: createOrgsService },
  { definitions: [projectDefinition], createService: createProjectsService },
  { definitions: [memberDefinition], createService: createMembersService },
  { definitions: [apiKeyDefinition], createService: createApiKeysService },
  { definitions: [groupDefinition], createService: createGroupsService },
  { definitions: [membershipDefinition, subgroupDefinition], createService: createGroupMembersService },
  { definitions: [roleDefinition], createService: createRolesService },
  { definitions: [roleBindingDefinition], createService: createRoleBindingsService },
];

export const registry = createRegistry(catalog.flatMap(({ definitions }) => definitions));
requireAllDefined(registry);
