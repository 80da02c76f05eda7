// All resources of the service. To add a resource, add its definition and the function that creates its handlers here.
import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { accessRequestDefinition } from "./iam/access-requests/definition.ts";
import { createAccessRequestsService } from "./iam/access-requests/service.ts";
import { apiKeyDefinition } from "./iam/api-keys/definition.ts";
import { createApiKeysService } from "./iam/api-keys/service.ts";
import { clientDefinition } from "./iam/clients/definition.ts";
import { createClientsService } from "./iam/clients/service.ts";
import { contactDefinition } from "./iam/contacts/definition.ts";
import { createContactsService } from "./iam/contacts/service.ts";
import { customerDefinition } from "./iam/customers/definition.ts";
import { createCustomersService } from "./iam/customers/service.ts";
import { identityDefinition } from "./iam/identities/definition.ts";
import { createIdentitiesService } from "./iam/identities/service.ts";
import { identityProviderDefinition } from "./iam/identity-providers/definition.ts";
import { type IdentityProviderDependencies, createIdentityProvidersService } from "./iam/identity-providers/service.ts";
import { membershipDefinition } from "./iam/group-members/membership-definition.ts";
import { createGroupMembersService } from "./iam/group-members/service.ts";
import { subgroupDefinition } from "./iam/group-members/subgroup-definition.ts";
import { groupDefinition } from "./iam/groups/definition.ts";
import { createGroupsService } from "./iam/groups/service.ts";
import { memberDefinition } from "./iam/members/definition.ts";
import type { ImpersonationDependencies } from "./iam/members/impersonate-member.ts";
import type { MailDependencies } from "./iam/mails/mail-dependencies.ts";
import { createMembersService } from "./iam/members/service.ts";
import { orgDefinition } from "./iam/orgs/definition.ts";
import { createOrgsService } from "./iam/orgs/service.ts";
import { projectDefinition } from "./iam/projects/definition.ts";
import { createProjectsService } from "./iam/projects/service.ts";
import { quotaRequestDefinition } from "./iam/quota-requests/definition.ts";
import { createQuotaRequestsService } from "./iam/quota-requests/service.ts";
import { qualityKindDefinition } from "./resources/quality-kinds/definition.ts";
import { createQualityKindsService } from "./resources/quality-kinds/service.ts";
import { quantityKindDefinition } from "./resources/quantity-kinds/definition.ts";
import { createQuantityKindsService } from "./resources/quantity-kinds/service.ts";
import { operationDefinition } from "./resources/operations/definition.ts";
import { createOperationsService } from "./resources/operations/service.ts";
import type { ProviderDependencies } from "./resources/provider-dependencies.ts";
import { infrastructureDefinition } from "./resources/resources/definition.ts";
import { createResourcesService } from "./resources/resources/service.ts";
import { resourceTypeDefinition } from "./resources/resource-types/definition.ts";
import { createResourceTypesService } from "./resources/resource-types/service.ts";
import { serviceDefinition } from "./resources/services/definition.ts";
import { createServicesService } from "./resources/services/service.ts";
import { transitionFollowers } from "./resources/sweeps/transition-followers.ts";
import { eventStreamDefinition } from "./events/event-streams/definition.ts";
import type { EventStreamDependencies } from "./events/event-streams/rules.ts";
import { createEventStreamsService } from "./events/event-streams/service.ts";
import type { SignalDependencies } from "./events/signals/dependencies.ts";
import { webhookDefinition } from "./events/webhooks/definition.ts";
import type { WebhookDependencies } from "./events/webhooks/rules.ts";
import { createWebhooksService } from "./events/webhooks/service.ts";
import type { SendGuarded } from "./identity/outgoing/guarded-request.ts";
import type { ResourceDefinition } from "./standard-methods/definition/definition.ts";
import { type Follower, createRegistry, requireAllDefined } from "./standard-methods/definition/registry.ts";
import { scimSourceDefinition } from "./iam/scim-sources/definition.ts";
import { createScimSourcesService } from "./iam/scim-sources/service.ts";
import { sessionDefinition } from "./iam/sessions/definition.ts";
import { createSessionsService } from "./iam/sessions/service.ts";
import { roleBindingDefinition } from "./iam/role-bindings/definition.ts";
import { createRoleBindingsService } from "./iam/role-bindings/service.ts";
import { roleDefinition } from "./iam/roles/definition.ts";
import type { RoleDependencies } from "./iam/roles/role-dependencies.ts";
import { createRolesService } from "./iam/roles/service.ts";

export type ResourceServiceDependencies = RoleDependencies &
  ProviderDependencies &
  IdentityProviderDependencies &
  WebhookDependencies &
  EventStreamDependencies &
  SignalDependencies & {
    readonly impersonation: ImpersonationDependencies;
    readonly mails: MailDependencies;
    readonly sendToWebhook: SendGuarded;
    readonly sendToStream: SendGuarded;
  };

interface RegisteredResources {
  readonly definitions: readonly [ResourceDefinition, ...ResourceDefinition[]];
  readonly createService: (dependencies: ResourceServiceDependencies) => ServiceImpl<DescService>;
  /** What of the service follows the transitions of other resources. */
  readonly followers?: readonly Follower[];
}

export const registeredResources: readonly RegisteredResources[] = [
  { definitions: [customerDefinition], createService: createCustomersService },
  { definitions: [orgDefinition], createService: createOrgsService },
  { definitions: [projectDefinition], createService: createProjectsService },
  { definitions: [memberDefinition], createService: createMembersService },
  { definitions: [apiKeyDefinition], createService: createApiKeysService },
  { definitions: [sessionDefinition], createService: createSessionsService },
  { definitions: [clientDefinition], createService: createClientsService },
  { definitions: [identityProviderDefinition], createService: createIdentityProvidersService },
  { definitions: [identityDefinition], createService: createIdentitiesService },
  { definitions: [scimSourceDefinition], createService: createScimSourcesService },
  { definitions: [groupDefinition], createService: createGroupsService },
  { definitions: [membershipDefinition, subgroupDefinition], createService: createGroupMembersService },
  { definitions: [roleDefinition], createService: createRolesService },
  { definitions: [roleBindingDefinition], createService: createRoleBindingsService },
  { definitions: [contactDefinition], createService: createContactsService },
  { definitions: [accessRequestDefinition], createService: createAccessRequestsService },
  { definitions: [quotaRequestDefinition], createService: createQuotaRequestsService },
  { definitions: [webhookDefinition], createService: createWebhooksService },
  { definitions: [eventStreamDefinition], createService: createEventStreamsService },
  { definitions: [serviceDefinition], createService: createServicesService },
  { definitions: [quantityKindDefinition], createService: createQuantityKindsService },
  { definitions: [qualityKindDefinition], createService: createQualityKindsService },
  { definitions: [resourceTypeDefinition], createService: createResourceTypesService },
  {
    definitions: [infrastructureDefinition],
    createService: createResourcesService,
    followers: transitionFollowers,
  },
  { definitions: [operationDefinition], createService: createOperationsService },
];

export const registry = createRegistry(
  registeredResources.flatMap(({ definitions }) => definitions),
  registeredResources.flatMap(({ followers = [] }) => followers),
);
requireAllDefined(registry);
