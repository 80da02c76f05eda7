// An org that is led back, as its owner.
import { Code, ConnectError } from "@connectrpc/connect";
import { type Client, createClient } from "@connectrpc/connect";
import {
  OrgFilesService,
  PlannedChange_ActionSchema as ActionSchema,
  type RollbackOrgRequest,
  type RollbackOrgResponse,
} from "../../gen/iam/v1alpha/org_file_pb.ts";
import { Webhook_Format } from "../../gen/iam/v1alpha/webhook_pb.ts";
import { required } from "../../src/errors/required.ts";
import { type Caller, type Company, openCompany } from "../access/callers.ts";
import type { SharedServer } from "../support/shared-server.ts";
import { type Protocol, createTransport } from "../support/transports.ts";

type Options = Partial<Pick<RollbackOrgRequest, "time" | "leaveOutImpossible" | "plan" | "validateOnly" | "requestId">>;

export interface RollbackPlace {
  readonly company: Company;
  readonly owner: Caller;
  /** The path of the org. */
  readonly org: string;
  readonly files: Client<typeof OrgFilesService>;
  /** Returns the revision at which the org is. */
  readonly head: () => Promise<string>;
  readonly rollback: (revision: string, options?: Options) => Promise<RollbackOrgResponse>;
  /** Returns what would be done, in lines such as `UPDATE groups/b name=a`. */
  readonly plan: (revision: string, options?: Options) => Promise<RollbackOrgResponse & { readonly lines: string[] }>;
  /** Returns what lists show, without what differs if something is created again. */
  readonly lists: () => Promise<Lists>;
}

type Lists = Readonly<Record<string, readonly object[]>>;

export async function openRollbackPlace(server: SharedServer, protocol: Protocol = "gRPC"): Promise<RollbackPlace> {
  const company = await openCompany(protocol, server);
  const owner = await company.joinAs("owner", "olive");
  const { path } = company.org;
  const files = createClient(OrgFilesService, createTransport(protocol, server.url, owner.key));
  const rollback: RollbackPlace["rollback"] = (revision, options = {}) =>
    files.rollbackOrg({ path, revision, ...options });
  return {
    company,
    owner,
    org: path,
    files,
    head: async () =>
      (await owner.access.checkAccess({ subjectPath: owner.path, permission: "iam.orgs.get", resourcePath: path }))
        .revision,
    rollback,
    async plan(revision, options = {}) {
      const planned = await rollback(revision, { ...options, validateOnly: true });
      const lines = planned.changes.map(({ action, resourcePath, changedFields, changedValues }) =>
        [
          ActionSchema.value[action]?.name,
          resourcePath.split("/").slice(3).join("/"),
          ...changedFields.map((field, at) =>
            field === "name" ? `name=${JSON.parse(changedValues[at]?.after ?? "")}` : field,
          ),
        ].join(" "),
      );
      return Object.assign(planned, { lines });
    },
    lists: () => readLists(owner, path),
  };
}

async function readLists(api: Caller, org: string): Promise<Lists> {
  const page = { pageSize: 1000 };
  const [below, inGroups, inProjects] = ["", "/groups/-", "/projects/-"].map((at) => ({
    ...page,
    parentPath: org + at,
  }));
  const { etag, updateTime, $typeName, ...self } = await api.orgs.getOrg({ path: org });
  const found = {
    orgs: [{ ...self, etag, updateTime, $typeName }],
    members: (await api.members.listMembers(required(below))).members,
    projects: (await api.projects.listProjects(required(below))).projects,
    clients: (await api.clients.listClients(required(below))).clients,
    webhooks: (await api.webhooks.listWebhooks(required(below))).webhooks,
    identityProviders: (await api.identityProviders.listIdentityProviders(required(below))).identityProviders,
    roles: (await api.roles.listRoles(required(below))).roles,
    groups: (await api.groups.listGroups(required(below))).groups,
    memberships: (await api.groupMembers.listGroupMembers(required(inGroups))).members,
    subgroups: (await api.groupMembers.listSubgroups(required(inGroups))).subgroups,
    bindings: [
      ...(await api.roleBindings.listRoleBindings(required(below))).roleBindings,
      ...(await api.roleBindings.listRoleBindings(required(inProjects))).roleBindings,
      // What a deleted member has is hidden, but in lists.
    ].filter(({ path, subjectPath }) => !`${path}${subjectPath}`.includes("/@")),
  };
  const keepsId = new Set(["orgs", "members", "projects", "clients", "webhooks", "identityProviders"]);
  return Object.fromEntries(
    Object.entries(found).map(([type, items]) => [
      type,
      items
        .map((item) => {
          const { etag: _etag, updateTime: _time, ...kept } = item;
          return keepsId.has(type) ? kept : { ...kept, id: "", createTime: undefined };
        })
        .toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    ]),
  );
}

/** How a write fails when others were before it. */
const expected = new Set([
  Code.NotFound,
  Code.FailedPrecondition,
  Code.AlreadyExists,
  Code.Aborted,
  Code.InvalidArgument,
  Code.PermissionDenied,
]);

interface RandomWrites {
  /** Creates something of all kinds. */
  readonly fill: () => Promise<void>;
  /** Makes one write. One that fails because of those before it does nothing. */
  readonly write: () => Promise<void>;
}

/** Returns what writes an org at random, with few names, so that they pass from one to another. */
export function createRandomWrites(api: Caller, org: string, pick: (count: number) => number): RandomWrites {
  const ids = {
    members: Array<string>(),
    groups: Array<string>(),
    projects: Array<string>(),
    roles: Array<string>(),
    webhooks: Array<string>(),
  };
  type Kind = keyof typeof ids;
  const name = (): string => `n${pick(8)}`;
  /** Two or three different ones. */
  const names = (): string[] => Array.from({ length: 2 + pick(2) }, (_, index) => `n${(pick(3) + 3 * index) % 8}`);
  const one = <Each>(from: readonly Each[]): Each => {
    if (from.length === 0) throw new ConnectError("there is none yet", Code.NotFound);
    return required(from[pick(from.length)]);
  };
  const at = (kind: Kind): string => `${org}/${kind}/@${one(ids[kind])}`;
  const later = () => ({ seconds: BigInt(4_000_000_000 + pick(1000)), nanos: 0 });
  const keep = async (kind: Kind, creation: Promise<{ readonly id: string }>): Promise<void> => {
    ids[kind].push((await creation).id);
  };
  const bindings = async (parentPath: string) =>
    (await api.roleBindings.listRoleBindings({ parentPath, pageSize: 1000 })).roleBindings.filter(
      ({ rolePath }) => rolePath !== "/roles/owner",
    );
  const scope = (): string => (pick(2) === 0 ? org : at("projects"));
  const { members, groups, projects, roles, roleBindings, groupMembers } = api;
  const fields = () => ({ description: `d${pick(3)}`, labels: { a: `l${pick(3)}` }, displayName: `D ${pick(3)}` });
  const writes: readonly (() => Promise<unknown>)[] = [
    () => keep("members", members.createMember({ parentPath: org, member: { name: name(), ...fields() } })),
    () => keep("members", members.createMember({ parentPath: org, member: { name: name() } })),
    () => keep("groups", groups.createGroup({ parentPath: org, group: { name: name(), ...fields() } })),
    () => keep("groups", groups.createGroup({ parentPath: org, group: { name: name() } })),
    () => keep("projects", projects.createProject({ parentPath: org, project: { name: name(), ...fields() } })),
    () =>
      keep("roles", roles.createRole({ parentPath: org, role: { name: name(), permissions: ["iam.members.get"] } })),
    () =>
      groupMembers.createGroupMember({
        parentPath: at("groups"),
        groupMember: { memberPath: at("members"), ...(pick(2) === 0 && { expireTime: later() }) },
      }),
    () => groupMembers.createGroupMember({ parentPath: at("groups"), groupMember: { memberPath: at("members") } }),
    () => groupMembers.createSubgroup({ parentPath: at("groups"), subgroup: { groupPath: at("groups") } }),
    () =>
      roleBindings.createRoleBinding({
        parentPath: scope(),
        roleBinding: {
          name: name(),
          rolePath: pick(2) === 0 ? "/roles/viewer" : at("roles"),
          subjectPath: pick(2) === 0 ? at("members") : at("groups"),
          ...(pick(3) === 0 && { condition: `context.ip == '192.0.2.${pick(9)}'` }),
          ...(pick(3) === 0 && { expireTime: later() }),
        },
      }),
    () => members.updateMember({ path: at("members"), member: { name: name() } }),
    () => groups.updateGroup({ path: at("groups"), group: { name: name() } }),
    () => projects.updateProject({ path: at("projects"), project: { name: name() } }),
    () => roles.updateRole({ path: at("roles"), role: { name: name() } }),
    () => members.updateMember({ path: at("members"), member: fields() }),
    () => groups.updateGroup({ path: at("groups"), group: fields() }),
    () => projects.updateProject({ path: at("projects"), project: fields() }),
    () => roles.updateRole({ path: at("roles"), role: { permissions: [one(["iam.groups.get", "iam.projects.get"])] } }),
    () => members.deleteMember({ path: at("members") }),
    () => members.undeleteMember({ path: at("members") }),
    () => members.suspendMember({ path: at("members") }),
    () => members.activateMember({ path: at("members") }),
    () => projects.deleteProject({ path: at("projects") }),
    () => projects.undeleteProject({ path: at("projects") }),
    () => projects.suspendProject({ path: at("projects") }),
    () => projects.activateProject({ path: at("projects") }),
    () => groups.deleteGroup({ path: at("groups") }),
    () => roles.deleteRole({ path: at("roles") }),
    async () => {
      const { members: found } = await groupMembers.listGroupMembers({ parentPath: `${org}/groups/-` });
      const { path } = one(found);
      await (pick(2) === 0
        ? groupMembers.deleteGroupMember({ path })
        : groupMembers.updateGroupMember({ path, groupMember: { expireTime: later() } }));
    },
    async () => {
      const { subgroups } = await groupMembers.listSubgroups({ parentPath: `${org}/groups/-` });
      await groupMembers.deleteSubgroup({ path: one(subgroups).path });
    },
    async () => {
      const { path } = one(await bindings(scope()));
      await one([
        () => roleBindings.deleteRoleBinding({ path }),
        () => roleBindings.updateRoleBinding({ path, roleBinding: { name: name() } }),
        () => roleBindings.updateRoleBinding({ path, roleBinding: { expireTime: later() } }),
      ])();
    },
    async () => {
      const requests = names().map((each) => ({ member: { name: each, ...fields() } }));
      for (const { id } of (await members.batchCreateMembers({ parentPath: org, requests })).members)
        ids.members.push(id);
    },
    async () => {
      const requests = names().map((each) => ({ group: { name: each, ...fields() } }));
      for (const { id } of (await groups.batchCreateGroups({ parentPath: org, requests })).groups) ids.groups.push(id);
    },
    () => members.batchDeleteMembers({ parentPath: org, paths: [at("members"), at("members")] }),
    () => groups.batchDeleteGroups({ parentPath: org, paths: [at("groups"), at("groups")] }),
    async () => {
      const paths = (await bindings(org)).map(({ path }) => path).slice(0, 1 + pick(3));
      await roleBindings.batchDeleteRoleBindings({ parentPath: org, paths });
    },
    // What was there at first cannot be made again.
    async () => {
      const path = `${org}/members/@${one(ids.members.slice(filled))}`;
      await members.deleteMember({ path, allowMissing: true });
      await members.purgeMember({ path });
    },
    () => api.orgs.updateOrg({ path: org, org: fields() }),
    () => api.clients.updateClient({ path: `${org}/clients/@${app}`, client: { name: name(), scopes: ["iam.*"] } }),
    () => api.clients.updateClient({ path: `${org}/clients/@${app}`, client: fields() }),
    () => api.webhooks.updateWebhook({ path: at("webhooks"), webhook: { name: name(), format: one(formats) } }),
    () => api.webhooks.updateWebhook({ path: at("webhooks"), webhook: { ...fields(), holdRetention: pick(2) === 0 } }),
    () =>
      api.webhooks.updateWebhook({ path: at("webhooks"), webhook: { filter: one(nothing), url: `${hook}${pick(3)}` } }),
    () => api.identityProviders.updateIdentityProvider({ path: okta, identityProvider: { scopes: [`s${pick(3)}`] } }),
  ];
  const attempt = async (write: () => Promise<unknown>): Promise<void> => {
    try {
      await write();
    } catch (error) {
      if (!expected.has(ConnectError.from(error).code)) throw error;
    }
  };
  const formats = [Webhook_Format.STANDARD, Webhook_Format.CLOUDEVENTS, Webhook_Format.NDJSON_BATCH];
  /** Filters that nothing matches: a webhook of them delivers nothing. */
  const nothing = ["Member", "Role"].map((type) => `resource_type = "Group" AND resource_type = "${type}"`);
  const hook = "https://hooks.example/";
  const unused = { url: hook, filter: required(nothing[0]) };
  const okta = `${org}/identityProviders/okta`;
  let app = "";
  /** How many members were created at first. */
  let filled = 0;
  return {
    async fill() {
      const { id } = await api.clients.createClient({
        parentPath: org,
        client: { name: "app", redirectUris: ["https://app.example/"] },
      });
      app = id;
      const identityProvider = { name: "okta", issuer: "https://a.example", clientId: "c", clientSecret: "s" };
      await api.identityProviders.createIdentityProvider({ parentPath: org, identityProvider });
      await keep("webhooks", api.webhooks.createWebhook({ parentPath: org, webhook: { name: "a", ...unused } }));
      await keep("webhooks", api.webhooks.createWebhook({ parentPath: org, webhook: { name: "b", ...unused } }));
      for (let round = 0; round < 4; round++) for (const write of writes.slice(0, created)) await attempt(write);
      filled = ids.members.length;
    },
    write: () => attempt(one(writes)),
  };
}

/** How many kinds of writes create something. */
const created = 10;
