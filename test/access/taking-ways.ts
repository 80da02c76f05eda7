// Every method that writes, with the ways in which it takes access from somebody, or why it takes none.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { AccessRequestsService } from "../../gen/iam/v1alpha/access_request_pb.ts";
import { type Api, uniqueName } from "../support/api.ts";
import type { OrgCast } from "./org-cast.ts";

/** What somebody holds. */
interface Held {
  readonly rolePath: string;
  /** A permission of the role, for custom roles that have it alone. */
  readonly permission: string;
}

interface Options {
  readonly validateOnly?: boolean;
}

/** Gives somebody access as the operator, and answers how it can be taken away. */
export type Way = (cast: OrgCast, held: Held) => Promise<(api: Api, options: Options) => Promise<unknown>>;

const by =
  <Place>(
    make: (cast: OrgCast, held: Held) => Promise<Place>,
    take: (place: Place, api: Api, options: Options) => Promise<unknown>,
  ): Way =>
  async (cast, held) => {
    const place = await make(cast, held);
    return (api, options) => take(place, api, options);
  };

/** A batch of two, of which only the second one takes anything from anybody. */
const byBatch = (
  make: (cast: OrgCast, held: Held) => Promise<string>,
  makeHarmless: (cast: OrgCast, parentPath: string) => Promise<{ readonly path: string }>,
  take: (batch: { parentPath: string; paths: string[] }, api: Api, options: Options) => Promise<unknown>,
): Way =>
  by(async (cast, held) => {
    const path = await make(cast, held);
    const parentPath = path.split("/").slice(0, -2).join("/");
    return { parentPath, paths: [(await makeHarmless(cast, parentPath)).path, path] };
  }, take);

const inHours = (hours: number) => timestampFromDate(new Date(Date.now() + hours * 3_600_000));

const holder = async (cast: OrgCast, { rolePath }: Held): Promise<string> =>
  (await cast.member(uniqueName("holder"), rolePath)).path;

const memberOf = ({ api }: OrgCast, parentPath: string, fields: object = {}) =>
  api.members.createMember({ parentPath, member: { name: uniqueName("m"), ...fields } });

const invited = async (cast: OrgCast, { rolePath }: Held): Promise<string> => {
  const { path } = await memberOf(cast, cast.org.path, { invitationExpireTime: inHours(2) });
  await cast.grant(cast.org.path, path, rolePath);
  return path;
};

const deleted = async (cast: OrgCast, held: Held): Promise<string> =>
  (await cast.api.members.deleteMember({ path: await holder(cast, held) })).path;

const keyOf = async ({ api }: OrgCast, parentPath: string): Promise<string> =>
  (await api.apiKeys.createApiKey({ parentPath, apiKey: { name: uniqueName("k") } })).path;

const keyOfHolder = async (cast: OrgCast, held: Held): Promise<string> => keyOf(cast, await holder(cast, held));

/** An identity, of a provider of its own. */
const identityOfHolder = async (cast: OrgCast, held: Held): Promise<string> => {
  const identityProvider = { name: uniqueName("p"), issuer: "https://login.example.com", clientId: "tenantry" };
  const provider = await cast.api.identityProviders.createIdentityProvider({
    parentPath: cast.org.path,
    identityProvider,
  });
  const identity = { name: uniqueName("i"), identityProviderPath: provider.path, subject: "1" };
  return (await cast.api.identities.createIdentity({ parentPath: await holder(cast, held), identity })).path;
};

const providerOfHolder = async (cast: OrgCast, held: Held): Promise<string> => {
  const path = await identityOfHolder(cast, held);
  return (await cast.api.identities.getIdentity({ path })).identityProviderPath;
};

/** The membership of a member in a group that holds it. */
const membership = async (cast: OrgCast, { rolePath }: Held): Promise<string> =>
  cast.join(await cast.group(uniqueName("holders"), rolePath), (await memberOf(cast, cast.org.path)).path);

const groupOf = (path: string): string => path.replace(/\/(members|subgroups)\/[^/]+$/, "");

const group = async (cast: OrgCast, held: Held): Promise<string> => groupOf(await membership(cast, held));

/** The nesting of a group in a group that holds it. */
const nesting = async (cast: OrgCast, { rolePath }: Held): Promise<string> =>
  cast.nest(await cast.group(uniqueName("outer"), rolePath), await cast.group(uniqueName("inner")));

/** A membership in a group that is in a group that holds it. */
const innerMembership = async (cast: OrgCast, held: Held): Promise<string> => {
  const inner = (await nesting(cast, held)).replace(/^(.*)\/groups\/[^/]+\/subgroups\/([^/]+)$/, "$1/groups/$2");
  return cast.join(inner, (await memberOf(cast, cast.org.path)).path);
};

const innerGroup = async (cast: OrgCast, held: Held): Promise<string> => groupOf(await innerMembership(cast, held));

/** A custom role that a group holds on a project. */
const customRole = async (cast: OrgCast, { permission }: Held): Promise<string> => {
  const role = await cast.role(uniqueName("role"), "iam.roles.get", permission);
  await cast.grant(await cast.project(uniqueName("p")), await cast.group(uniqueName("holders")), role);
  return role;
};

const binding = async (cast: OrgCast, { rolePath }: Held): Promise<string> =>
  cast.grant(cast.org.path, (await memberOf(cast, cast.org.path)).path, rolePath);

const bindingOfGroup = async (cast: OrgCast, { rolePath }: Held): Promise<string> =>
  cast.grant(await cast.project(uniqueName("p")), await cast.group(uniqueName("holders")), rolePath);

const bindingUntil = async (cast: OrgCast, { rolePath }: Held): Promise<string> => {
  const { path } = await memberOf(cast, cast.org.path);
  return cast.grant(cast.org.path, path, rolePath, { startTime: inHours(-2), expireTime: inHours(2) });
};

/** The request of a member for access that was approved. */
const accessRequest = async (cast: OrgCast, { rolePath }: Held): Promise<string> => {
  const { api } = await cast.member(uniqueName("asks"));
  const asked = { rolePath, resourcePath: cast.org.path, reason: "Ticket 4711", expireTime: inHours(2) };
  const created = createClient(AccessRequestsService, api.transport).createAccessRequest({
    parentPath: cast.org.path,
    accessRequest: asked,
  });
  const { path } = await created;
  await createClient(AccessRequestsService, cast.api.transport).approveAccessRequest({ path });
  return path;
};

const conditionalBinding = async (cast: OrgCast, { rolePath }: Held): Promise<string> => {
  const { path } = await memberOf(cast, cast.org.path);
  return cast.grant(cast.org.path, path, rolePath, { condition: "context.vip" });
};

const ofClients = "what a client may do is what its members allow it, who can allow another one";
const ofQuotas = "limits how much may be used, not who may use it";
const gives = "gives access";
const ofSources = "who is managed keeps what it holds";
const ofWaiting = "nobody holds anything by a request that waits";
const namesOnly = "changes a name and what describes it; what conditions read of them is guarded by other rules";
const ofCloud = "changes what the cloud offers, on which nobody holds anything";
const ofItself = "decides about the resource itself, for everybody alike";

const ofStreams = "an event stream tells what has ended, and gives nobody access";
const ofContacts = "a contact is an address, and gives nobody access";
const ofWebhooks = "a webhook shows what its member may see, and gives nobody access";

/** The ways of each method; a reason for a method that takes nothing. A new method needs a line. */
export const ways: Readonly<Record<string, Readonly<Record<string, Way>> | string>> = {
  UpdateCustomer: namesOnly,
  DeleteCustomer: ofItself,
  UndeleteCustomer: gives,
  PurgeCustomer: ofItself,
  BatchDeleteCustomers: ofItself,

  CreateOrg: gives,
  UpdateOrg: namesOnly,
  DeleteOrg: ofItself,
  UndeleteOrg: gives,
  SuspendOrg: ofItself,
  ActivateOrg: gives,
  PurgeOrg: ofItself,
  BatchCreateOrgs: gives,
  BatchDeleteOrgs: ofItself,
  ApplyOrg: "takes access by the methods for each change alone, which have their lines here",
  RollbackOrg: "takes access by the methods for each change alone, which have their lines here",

  CreateProject: gives,
  UpdateProject: namesOnly,
  DeleteProject: ofItself,
  UndeleteProject: gives,
  SuspendProject: ofItself,
  ActivateProject: gives,
  PurgeProject: ofItself,
  BatchCreateProjects: gives,
  BatchDeleteProjects: ofItself,

  CreateMember: gives,
  UpdateMember: {
    "an invitation that ends earlier": by(invited, (path, { members }, options) =>
      members.updateMember({ path, member: { invitationExpireTime: inHours(1) }, ...options }),
    ),
    "an invitation that ends earlier, with allow_missing": by(invited, (path, { members }, options) =>
      members.updateMember({ path, member: { invitationExpireTime: inHours(1) }, allowMissing: true, ...options }),
    ),
  },
  DeleteMember: {
    "a member": by(holder, (path, { members }, options) => members.deleteMember({ path, ...options })),
    "a member of a group": by(
      async (cast, held) => {
        const path = await membership(cast, held);
        return `${cast.org.path}/members/${path.split("/").at(-1) ?? ""}`;
      },
      (path, { members }, options) => members.deleteMember({ path, ...options }),
    ),
    "with allow_missing": by(holder, (path, { members }, options) =>
      members.deleteMember({ path, allowMissing: true, ...options }),
    ),
    "an invitation": by(invited, (path, { members }, options) => members.deleteMember({ path, ...options })),
  },
  UndeleteMember: gives,
  SuspendMember: {
    "a member": by(holder, (path, { members }, options) => members.suspendMember({ path, ...options })),
  },
  ActivateMember: gives,
  PurgeMember: {
    "a deleted member": by(deleted, (path, { members }, options) => members.purgeMember({ path, ...options })),
  },
  BatchCreateMembers: gives,
  BatchDeleteMembers: {
    "a member": byBatch(holder, memberOf, (batch, { members }, options) =>
      members.batchDeleteMembers({ ...batch, ...options }),
    ),
    "with allow_missing": byBatch(holder, memberOf, (batch, { members }, options) =>
      members.batchDeleteMembers({ ...batch, allowMissing: true, ...options }),
    ),
  },

  CreateApiKey: gives,
  ConfirmApiKey: gives,
  RotateApiKey: "ends a key later, for which its member gets another one; who acts as the member",
  UpdateApiKey: "changes a name and what describes it; the expire time is immutable",
  DeleteApiKey: {
    "a key": by(keyOfHolder, (path, { apiKeys }, options) => apiKeys.deleteApiKey({ path, ...options })),
  },
  BatchCreateApiKeys: gives,
  BatchDeleteApiKeys: {
    "a key": by(keyOfHolder, (path, { apiKeys }, options) =>
      apiKeys.batchDeleteApiKeys({ parentPath: path.split("/apiKeys/")[0] ?? "", paths: [path], ...options }),
    ),
  },

  CreateIdentityProvider: gives,
  UpdateIdentityProvider: namesOnly,
  DeleteIdentityProvider: {
    "a provider": by(providerOfHolder, (path, { identityProviders }, options) =>
      identityProviders.deleteIdentityProvider({ path, ...options }),
    ),
  },
  BatchCreateIdentityProviders: gives,
  BatchDeleteIdentityProviders: {
    "a provider": by(providerOfHolder, (path, { identityProviders }, options) =>
      identityProviders.batchDeleteIdentityProviders({
        parentPath: path.split("/identityProviders/")[0] ?? "",
        paths: [path],
        ...options,
      }),
    ),
  },

  CreateIdentity: gives,
  UpdateIdentity: namesOnly,
  DeleteIdentity: {
    "an identity": by(identityOfHolder, (path, { identities }, options) =>
      identities.deleteIdentity({ path, ...options }),
    ),
  },
  BatchCreateIdentities: gives,
  BatchDeleteIdentities: {
    "an identity": by(identityOfHolder, (path, { identities }, options) =>
      identities.batchDeleteIdentities({
        parentPath: path.split("/identities/")[0] ?? "",
        paths: [path],
        ...options,
      }),
    ),
  },

  CreateGroup: gives,
  UpdateGroup: namesOnly,
  DeleteGroup: {
    "a group": by(group, (path, { groups }, options) => groups.deleteGroup({ path, ...options })),
    "a group in a group": by(innerGroup, (path, { groups }, options) => groups.deleteGroup({ path, ...options })),
    "with allow_missing": by(group, (path, { groups }, options) =>
      groups.deleteGroup({ path, allowMissing: true, ...options }),
    ),
  },
  BatchCreateGroups: gives,
  BatchDeleteGroups: {
    "a group": byBatch(
      group,
      ({ api }, parentPath) => api.groups.createGroup({ parentPath, group: { name: uniqueName("g") } }),
      (batch, { groups }, options) => groups.batchDeleteGroups({ ...batch, ...options }),
    ),
  },

  CreateGroupMember: gives,
  UpdateGroupMember: {
    "an end": by(membership, (path, { groupMembers }, options) =>
      groupMembers.updateGroupMember({ path, groupMember: { expireTime: inHours(1) }, ...options }),
    ),
    "an end, with allow_missing": by(innerMembership, (path, { groupMembers }, options) =>
      groupMembers.updateGroupMember({
        path,
        groupMember: { expireTime: inHours(1) },
        allowMissing: true,
        ...options,
      }),
    ),
  },
  DeleteGroupMember: {
    "a membership": by(membership, (path, { groupMembers }, options) =>
      groupMembers.deleteGroupMember({ path, ...options }),
    ),
    "a membership in a group in a group": by(innerMembership, (path, { groupMembers }, options) =>
      groupMembers.deleteGroupMember({ path, ...options }),
    ),
  },
  BatchCreateGroupMembers: gives,
  BatchDeleteGroupMembers: {
    "a membership": by(membership, (path, { groupMembers }, options) =>
      groupMembers.batchDeleteGroupMembers({ parentPath: groupOf(path), paths: [path], ...options }),
    ),
  },
  CreateSubgroup: gives,
  UpdateSubgroup: namesOnly,
  DeleteSubgroup: {
    "a group": by(nesting, (path, { groupMembers }, options) => groupMembers.deleteSubgroup({ path, ...options })),
  },
  BatchCreateSubgroups: gives,
  BatchDeleteSubgroups: {
    "a group": by(nesting, (path, { groupMembers }, options) =>
      groupMembers.batchDeleteSubgroups({ parentPath: groupOf(path), paths: [path], ...options }),
    ),
  },

  CreateRole: gives,
  UpdateRole: {
    "fewer permissions": by(customRole, (path, { roles }, options) =>
      roles.updateRole({ path, role: { permissions: ["iam.roles.get"] }, ...options }),
    ),
    "fewer permissions, with allow_missing": by(customRole, (path, { roles }, options) =>
      roles.updateRole({ path, role: { permissions: ["iam.roles.get"] }, allowMissing: true, ...options }),
    ),
  },
  DeleteRole: {
    "a role": by(customRole, (path, { roles }, options) => roles.deleteRole({ path, ...options })),
  },
  BatchCreateRoles: gives,
  BatchDeleteRoles: {
    "a role": byBatch(
      customRole,
      // Nobody holds it.
      ({ api }, parentPath) =>
        api.roles.createRole({ parentPath, role: { name: uniqueName("r"), permissions: ["iam.orgs.delete"] } }),
      (batch, { roles }, options) => roles.batchDeleteRoles({ ...batch, ...options }),
    ),
  },

  CreateClient: ofClients,
  UpdateClient: ofClients,
  DeleteClient: ofClients,
  RotateClient: ofClients,
  BatchCreateClients: ofClients,
  BatchDeleteClients: ofClients,
  CreateScimSource: ofSources,
  UpdateScimSource: ofSources,
  DeleteScimSource: ofSources,
  BatchCreateScimSources: ofSources,
  BatchDeleteScimSources: ofSources,
  CreateEventStream: ofStreams,
  UpdateEventStream: ofStreams,
  DeleteEventStream: ofStreams,
  PauseEventStream: ofStreams,
  ResumeEventStream: ofStreams,
  BatchCreateEventStreams: ofStreams,
  BatchDeleteEventStreams: ofStreams,
  CreateContact: ofContacts,
  UpdateContact: ofContacts,
  DeleteContact: ofContacts,
  BatchCreateContacts: ofContacts,
  BatchDeleteContacts: ofContacts,
  SendConfirmation: ofContacts,
  EraseContact: "writes the log alone, about a contact that no longer exists",
  CreateWebhook: ofWebhooks,
  UpdateWebhook: ofWebhooks,
  DeleteWebhook: ofWebhooks,
  RotateWebhook: ofWebhooks,
  PauseWebhook: ofWebhooks,
  ResumeWebhook: ofWebhooks,
  ReplayWebhook: ofWebhooks,
  BatchCreateWebhooks: ofWebhooks,
  BatchDeleteWebhooks: ofWebhooks,

  UpdateQuota: ofQuotas,
  CreateQuotaRequest: ofQuotas,
  UpdateQuotaRequest: ofQuotas,
  DeleteQuotaRequest: ofQuotas,
  ApproveQuotaRequest: ofQuotas,
  RejectQuotaRequest: ofQuotas,
  BatchCreateQuotaRequests: ofQuotas,
  BatchDeleteQuotaRequests: ofQuotas,

  CreateAccessRequest: ofWaiting,
  ApproveAccessRequest: gives,
  DeclineAccessRequest: ofWaiting,
  CancelAccessRequest: ofWaiting,
  EndAccessRequest: {
    "of a member": by(accessRequest, (path, { transport }, options) =>
      createClient(AccessRequestsService, transport).endAccessRequest({ path, ...options }),
    ),
  },

  CreateRoleBinding: gives,
  UpdateRoleBinding: {
    "an end": by(binding, (path, { roleBindings }, options) =>
      roleBindings.updateRoleBinding({ path, roleBinding: { expireTime: inHours(1) }, ...options }),
    ),
    "an earlier end": by(bindingUntil, (path, { roleBindings }, options) =>
      roleBindings.updateRoleBinding({ path, roleBinding: { expireTime: inHours(1) }, ...options }),
    ),
    "a later start": by(bindingUntil, (path, { roleBindings }, options) =>
      roleBindings.updateRoleBinding({ path, roleBinding: { startTime: inHours(1) }, ...options }),
    ),
    "a condition": by(bindingOfGroup, (path, { roleBindings }, options) =>
      roleBindings.updateRoleBinding({ path, roleBinding: { condition: "false" }, ...options }),
    ),
    "a condition, with allow_missing": by(binding, (path, { roleBindings }, options) =>
      roleBindings.updateRoleBinding({
        path,
        roleBinding: { condition: "false" },
        allowMissing: true,
        ...options,
      }),
    ),
  },
  DeleteRoleBinding: {
    "of a member": by(binding, (path, { roleBindings }, options) =>
      roleBindings.deleteRoleBinding({ path, ...options }),
    ),
    "of a group, on a project": by(bindingOfGroup, (path, { roleBindings }, options) =>
      roleBindings.deleteRoleBinding({ path, ...options }),
    ),
    "with a condition": by(conditionalBinding, (path, { roleBindings }, options) =>
      roleBindings.deleteRoleBinding({ path, ...options }),
    ),
    "with allow_missing": by(bindingUntil, (path, { roleBindings }, options) =>
      roleBindings.deleteRoleBinding({ path, allowMissing: true, ...options }),
    ),
  },
  BatchCreateRoleBindings: gives,
  BatchDeleteRoleBindings: {
    "of a member": by(binding, (path, { roleBindings }, options) =>
      roleBindings.batchDeleteRoleBindings({
        parentPath: path.split("/roleBindings/")[0] ?? "",
        paths: [path],
        ...options,
      }),
    ),
  },

  CreateService: ofCloud,
  UpdateService: ofCloud,
  DeleteService: ofCloud,
  BatchCreateServices: ofCloud,
  BatchDeleteServices: ofCloud,

  CreateQuantityKind: ofCloud,
  UpdateQuantityKind: ofCloud,
  DeleteQuantityKind: ofCloud,
  BatchCreateQuantityKinds: ofCloud,
  BatchDeleteQuantityKinds: ofCloud,

  CreateQualityKind: ofCloud,
  UpdateQualityKind: ofCloud,
  DeleteQualityKind: ofCloud,
  BatchCreateQualityKinds: ofCloud,
  BatchDeleteQualityKinds: ofCloud,

  CreateResourceType: ofCloud,
  UpdateResourceType: ofCloud,
  DeleteResourceType: ofCloud,
  BatchCreateResourceTypes: ofCloud,
  BatchDeleteResourceTypes: ofCloud,

  BatchCreateResources: ofItself,
  CreateResource: ofItself,
  UpdateResource: ofItself,
  UndeleteResource: ofItself,
  BatchDeleteResources: ofItself,
  DeleteResource: ofItself,
  RunResource: ofItself,
  CancelOperation: ofItself,
  CompleteOperation: ofItself,
  FailOperation: ofItself,

  IssueToken: gives,
  ImpersonateMember: gives,
  InviteMember: gives,
  SendInvitation: gives,
  RefreshToken: gives,
  DeleteSession: "ends a session, of which the member can start another",
  RevokeTokens: "ends tokens and sessions, for which the member's API keys get others",
  RevokeToken: "takes only the token that the request contains",
  ReportResource: ofItself,
  EraseMember: "writes the log alone, about a member that no longer exists",
};
