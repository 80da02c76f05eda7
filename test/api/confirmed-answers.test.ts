// Answers that are used again are never older than their requests: what one server has written, another one returns at once.
import { afterAll, beforeAll, expect, test } from "vitest";
import { registry } from "../../src/catalog.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { rounds } from "../support/rounds.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

let one: TestServer;
let other: TestServer;
let writer: Api;
let reader: Api;
let own: Api;
let org: string;

beforeAll(async () => {
  one = await startTestServer();
  other = await startTestServer({ databaseUrl: one.databaseUrl });
  writer = createApi("gRPC", one.url, one.operatorKey);
  reader = createApi("Connect", other.url, one.operatorKey);
  ({ path: org } = await writer.orgs.createOrg({ org: { name: uniqueName("acme") } }));
  const { path } = await writer.members.createMember({ parentPath: org, member: { name: "reader", type: 2 } });
  await writer.roleBindings.createRoleBinding({
    parentPath: org,
    roleBinding: { name: "reader", rolePath: "/roles/viewer", subjectPath: path },
  });
  await writer.groups.createGroup({ parentPath: org, group: { name: "parent" } });
  const key = await writer.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "reader" } });
  own = createApi("REST", other.url, key.secret);
});

afterAll(async () => {
  await other.close();
  await one.close();
});

/** Reads several times, so that the answers are kept, and expects the same each time. */
async function see<Value>(read: () => Promise<Value>): Promise<Value> {
  const first = await read();
  for (let time = 0; time < 3; time++) expect(await read()).toEqual(first);
  return first;
}

interface Kind {
  readonly create: (name: string) => Promise<{ readonly path: string }>;
  readonly update: (path: string, displayName: string) => Promise<object>;
  readonly remove: (path: string) => Promise<object>;
  readonly get: (api: Api, path: string) => Promise<object>;
  readonly list: (api: Api, filter?: string) => Promise<Listed>;
  /** A filter for the resource at a path; by default, one for its new display name. */
  readonly filter?: (path: string) => string;
}

interface Listed {
  readonly items: readonly { readonly path: string }[];
  readonly totalSize: number | undefined;
}

const kinds = {
  members: {
    create: (name: string) => writer.members.createMember({ parentPath: org, member: { name } }),
    update: (path: string, displayName: string) => writer.members.updateMember({ path, member: { displayName } }),
    remove: (path: string) => writer.members.deleteMember({ path }),
    get: (api: Api, path: string) => api.members.getMember({ path }),
    list: async (api: Api, filter = "") => {
      const { members, totalSize } = await api.members.listMembers({ parentPath: org, filter, pageSize: 1_000 });
      return { items: members, totalSize };
    },
  },
  projects: {
    create: (name: string) => writer.projects.createProject({ parentPath: org, project: { name } }),
    update: (path: string, displayName: string) => writer.projects.updateProject({ path, project: { displayName } }),
    remove: (path: string) => writer.projects.deleteProject({ path }),
    get: (api: Api, path: string) => api.projects.getProject({ path }),
    list: async (api: Api, filter = "") => {
      const { projects, totalSize } = await api.projects.listProjects({ parentPath: org, filter, pageSize: 1_000 });
      return { items: projects, totalSize };
    },
  },
  groups: {
    create: (name: string) => writer.groups.createGroup({ parentPath: org, group: { name } }),
    update: (path: string, displayName: string) => writer.groups.updateGroup({ path, group: { displayName } }),
    remove: (path: string) => writer.groups.deleteGroup({ path }),
    get: (api: Api, path: string) => api.groups.getGroup({ path }),
    list: async (api: Api, filter = "") => {
      const { groups, totalSize } = await api.groups.listGroups({ parentPath: org, filter, pageSize: 1_000 });
      return { items: groups, totalSize };
    },
  },
  roles: {
    create: (name: string) =>
      writer.roles.createRole({ parentPath: org, role: { name, permissions: ["iam.members.get"] } }),
    update: (path: string, displayName: string) => writer.roles.updateRole({ path, role: { displayName } }),
    remove: (path: string) => writer.roles.deleteRole({ path }),
    get: (api: Api, path: string) => api.roles.getRole({ path }),
    list: async (api: Api, filter = "") => {
      const { roles, totalSize } = await api.roles.listRoles({ parentPath: org, filter, pageSize: 1_000 });
      return { items: roles, totalSize };
    },
  },
  subgroups: {
    create: async (name: string) => {
      const subgroup = await writer.groups.createGroup({ parentPath: org, group: { name } });
      return writer.groupMembers.createSubgroup({
        parentPath: `${org}/groups/parent`,
        subgroup: { groupPath: subgroup.path },
      });
    },
    update: (path: string, description: string) =>
      writer.groupMembers.updateSubgroup({ path, subgroup: { description } }),
    remove: (path: string) => writer.groupMembers.deleteSubgroup({ path }),
    get: (api: Api, path: string) => api.groupMembers.getSubgroup({ path }),
    list: async (api: Api, filter = "") => {
      const parentPath = `${org}/groups/parent`;
      const { subgroups, totalSize } = await api.groupMembers.listSubgroups({ parentPath, filter, pageSize: 1_000 });
      return { items: subgroups, totalSize };
    },
    filter: (path: string) => `name = "${path.split("/").at(-1)}"`,
  },
  clients: {
    create: (name: string) => writer.clients.createClient({ parentPath: org, client: { name } }),
    update: (path: string, displayName: string) => writer.clients.updateClient({ path, client: { displayName } }),
    remove: (path: string) => writer.clients.deleteClient({ path }),
    get: (api: Api, path: string) => api.clients.getClient({ path }),
    list: async (api: Api, filter = "") => {
      const { clients, totalSize } = await api.clients.listClients({ parentPath: org, filter, pageSize: 1_000 });
      return { items: clients, totalSize };
    },
  },
  identityProviders: {
    create: (name: string) =>
      writer.identityProviders.createIdentityProvider({
        parentPath: org,
        identityProvider: { name, issuer: "https://login.example.com", clientId: "tenantry" },
      }),
    update: (path: string, displayName: string) =>
      writer.identityProviders.updateIdentityProvider({ path, identityProvider: { displayName } }),
    remove: (path: string) => writer.identityProviders.deleteIdentityProvider({ path }),
    get: (api: Api, path: string) => api.identityProviders.getIdentityProvider({ path }),
    list: async (api: Api, filter = "") => {
      const call = { parentPath: org, filter, pageSize: 1_000 };
      const { identityProviders, totalSize } = await api.identityProviders.listIdentityProviders(call);
      return { items: identityProviders, totalSize };
    },
  },
} satisfies Readonly<Record<string, Kind>>;

test("all resources with kept answers are here", () => {
  const kept = registry.definitions.filter(({ changesWithRevision }) => changesWithRevision);
  const collections = kept.map(({ places: [{ pattern }] }) => pattern.at(-1) ?? "");
  expect(Object.keys(kinds).toSorted()).toEqual(collections.toSorted());
});

test.each(Object.entries<Kind>(kinds))("%s", async (_kind, calls) => {
  for (let round = 0; round < rounds(6, 1_200); round++) {
    for (const api of [reader, own]) {
      const before = await see(() => calls.list(api));
      const created = await calls.create(uniqueName("new"));
      const longer = await see(() => calls.list(api));
      expect(longer.items).toHaveLength(before.items.length + 1);
      expect(longer.totalSize).toBe((before.totalSize ?? 0) + 1);
      expect(await see(() => calls.get(api, created.path))).toEqual(created);
      const updated = await calls.update(created.path, `Name ${round}`);
      expect(await see(() => calls.get(api, created.path))).toEqual(updated);
      const filter = calls.filter?.(created.path) ?? `display_name = "Name ${round}"`;
      expect((await see(() => calls.list(api, filter))).items).toContainEqual(updated);
      await calls.remove(created.path);
      await expect(calls.get(api, created.path)).rejects.toThrow("there is no");
      expect((await see(() => calls.list(api, filter))).items).toEqual([]);
      expect(await see(() => calls.list(api))).toEqual(before);
    }
  }
});

test("the new name of an org is in the paths of what is in it", async () => {
  await see(() => kinds.members.list(own));
  const name = uniqueName("renamed");
  const renamed = await writer.orgs.updateOrg({ path: org, org: { name } });
  org = renamed.path;
  const { items } = await see(() => kinds.members.list(own));
  for (const { path } of items) expect(path).toContain(`/orgs/${name}/`);
});

test("a member that may no longer list gets no kept answer", async () => {
  await see(() => kinds.projects.list(own));
  await writer.roleBindings.deleteRoleBinding({ path: `${org}/roleBindings/reader` });
  await expect(kinds.projects.list(own)).rejects.toThrow("iam.projects.list");
});
