import { type Client, type Transport, createClient } from "@connectrpc/connect";
import { ApiKeysService } from "../../gen/iam/v1alpha/api_key_pb.ts";
import { AccessRequestsService } from "../../gen/iam/v1alpha/access_request_pb.ts";
import { AccessEventsService } from "../../gen/iam/v1alpha/access_event_pb.ts";
import { ChangesService } from "../../gen/iam/v1alpha/change_pb.ts";
import { ContactsService } from "../../gen/iam/v1alpha/contact_pb.ts";
import { ClientsService } from "../../gen/iam/v1alpha/client_pb.ts";
import { SessionsService } from "../../gen/iam/v1alpha/session_pb.ts";
import { CustomersService } from "../../gen/iam/v1alpha/customer_pb.ts";
import { EventStreamsService } from "../../gen/iam/v1alpha/event_stream_pb.ts";
import { GroupMembersService } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { IdentitiesService } from "../../gen/iam/v1alpha/identity_pb.ts";
import { IdentityProvidersService } from "../../gen/iam/v1alpha/identity_provider_pb.ts";
import { GroupsService } from "../../gen/iam/v1alpha/group_pb.ts";
import { MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import { ProjectsService } from "../../gen/iam/v1alpha/project_pb.ts";
import { RoleBindingsService } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { RolesService } from "../../gen/iam/v1alpha/role_pb.ts";
import { QualityKindsService } from "../../gen/resources/v1alpha/quality_kind_pb.ts";
import { QuantityKindsService } from "../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { ResourceTypesService } from "../../gen/resources/v1alpha/resource_type_pb.ts";
import { ServicesService } from "../../gen/resources/v1alpha/service_pb.ts";
import { WebhooksService } from "../../gen/iam/v1alpha/webhook_pb.ts";
import { type Protocol, createTransport } from "./transports.ts";

/** Generated clients of all services that tests call, and the transport that they share. */
export interface Api {
  readonly transport: Transport;
  readonly customers: Client<typeof CustomersService>;
  readonly orgs: Client<typeof OrgsService>;
  readonly projects: Client<typeof ProjectsService>;
  readonly members: Client<typeof MembersService>;
  readonly apiKeys: Client<typeof ApiKeysService>;
  readonly accessEvents: Client<typeof AccessEventsService>;
  readonly accessRequests: Client<typeof AccessRequestsService>;
  readonly changes: Client<typeof ChangesService>;
  readonly clients: Client<typeof ClientsService>;
  readonly contacts: Client<typeof ContactsService>;
  readonly sessions: Client<typeof SessionsService>;
  readonly identityProviders: Client<typeof IdentityProvidersService>;
  readonly identities: Client<typeof IdentitiesService>;
  readonly groups: Client<typeof GroupsService>;
  readonly groupMembers: Client<typeof GroupMembersService>;
  readonly roles: Client<typeof RolesService>;
  readonly roleBindings: Client<typeof RoleBindingsService>;
  readonly eventStreams: Client<typeof EventStreamsService>;
  readonly webhooks: Client<typeof WebhooksService>;
  readonly services: Client<typeof ServicesService>;
  readonly quantityKinds: Client<typeof QuantityKindsService>;
  readonly qualityKinds: Client<typeof QualityKindsService>;
  readonly resourceTypes: Client<typeof ResourceTypesService>;
}

export function createApi(protocol: Protocol, baseUrl: string, apiKey: string | undefined): Api {
  const transport = createTransport(protocol, baseUrl, apiKey);
  return {
    transport,
    customers: createClient(CustomersService, transport),
    orgs: createClient(OrgsService, transport),
    projects: createClient(ProjectsService, transport),
    members: createClient(MembersService, transport),
    apiKeys: createClient(ApiKeysService, transport),
    accessEvents: createClient(AccessEventsService, transport),
    accessRequests: createClient(AccessRequestsService, transport),
    changes: createClient(ChangesService, transport),
    clients: createClient(ClientsService, transport),
    contacts: createClient(ContactsService, transport),
    sessions: createClient(SessionsService, transport),
    identityProviders: createClient(IdentityProvidersService, transport),
    identities: createClient(IdentitiesService, transport),
    groups: createClient(GroupsService, transport),
    groupMembers: createClient(GroupMembersService, transport),
    roles: createClient(RolesService, transport),
    roleBindings: createClient(RoleBindingsService, transport),
    eventStreams: createClient(EventStreamsService, transport),
    webhooks: createClient(WebhooksService, transport),
    services: createClient(ServicesService, transport),
    quantityKinds: createClient(QuantityKindsService, transport),
    qualityKinds: createClient(QualityKindsService, transport),
    resourceTypes: createClient(ResourceTypesService, transport),
  };
}

let serial = 0;

/** Returns a name that is unique in this process, and not the start of another one. */
export function uniqueName(start: string): string {
  serial++;
  return `${start}p${process.pid}n${serial}e`;
}
