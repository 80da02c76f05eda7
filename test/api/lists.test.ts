// What every list does, over REST and gRPC: one table, so that a resource that behaves otherwise fails.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

interface Item {
  readonly path: string;
  readonly id: string;
  readonly name: string;
  readonly etag: string;
}

interface Query {
  readonly filter?: string;
  readonly orderBy?: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly showDeleted?: boolean;
}

interface Page {
  readonly items: readonly Item[];
  readonly nextPageToken: string;
}

interface Listed {
  /** Makes what is listed, with names in the order of their creation; answers the parent. */
  make(api: Api, org: string, names: readonly string[]): Promise<string>;
  list(api: Api, parent: string, query: Query): Promise<Page>;
  /** What its lists can be ordered by beside `create_time`. */
  readonly textOrder: string | undefined;
}

/** The fields of a page that are there under another name for each resource. */
function page<Key extends string>(key: Key, answer: Record<Key, readonly Item[]> & { nextPageToken: string }): Page {
  return { items: answer[key], nextPageToken: answer.nextPageToken };
}

const withoutDeleted = ({ showDeleted: _none, ...query }: Query): Omit<Query, "showDeleted"> => query;

/** Grants something to a group under each of the names. */
async function grantEach(api: Api, org: string, parentPath: string, names: readonly string[]): Promise<string> {
  const { path: subjectPath } = await api.groups.createGroup({ parentPath: org, group: { name: "holder" } });
  for (const name of names) {
    const roleBinding = { name, subjectPath, rolePath: "/roles/viewer" };
    await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
  }
  return parentPath;
}

const listRoleBindings: Listed["list"] = async (api, parentPath, query) =>
  page("roleBindings", await api.roleBindings.listRoleBindings({ parentPath, ...withoutDeleted(query) }));

const lists: Record<string, Listed> = {
  orgs: {
    async make(api, _org, names) {
      const customer = uniqueName("holder");
      await api.orgs.createOrg({ org: { name: customer } });
      for (const name of names) await api.orgs.createOrg({ org: { name, customerPath: `customers/${customer}` } });
      return `customer_path = "/customers/${customer}" AND name != "${customer}"`;
    },
    // Orgs have no parent; those of one customer are picked by a filter.
    list: async (api, parent, query) =>
      page(
        "orgs",
        await api.orgs.listOrgs({ ...query, filter: query.filter ? `${parent} AND (${query.filter})` : parent }),
      ),
    textOrder: "name",
  },
  projects: {
    async make(api, org, names) {
      for (const name of names) await api.projects.createProject({ parentPath: org, project: { name } });
      return org;
    },
    list: async (api, parentPath, query) => page("projects", await api.projects.listProjects({ parentPath, ...query })),
    textOrder: "name",
  },
  members: {
    async make(api, org, names) {
      for (const name of names) await api.members.createMember({ parentPath: org, member: { name } });
      return org;
    },
    list: async (api, parentPath, query) => page("members", await api.members.listMembers({ parentPath, ...query })),
    textOrder: "name",
  },
  "API keys": {
    async make(api, org, names) {
      const { path } = await api.members.createMember({ parentPath: org, member: { name: "holder" } });
      for (const name of names) await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name } });
      return path;
    },
    list: async (api, parentPath, query) =>
      page("apiKeys", await api.apiKeys.listApiKeys({ parentPath, ...withoutDeleted(query) })),
    textOrder: "name",
  },
  groups: {
    async make(api, org, names) {
      for (const name of names) await api.groups.createGroup({ parentPath: org, group: { name } });
      return org;
    },
    list: async (api, parentPath, query) =>
      page("groups", await api.groups.listGroups({ parentPath, ...withoutDeleted(query) })),
    textOrder: "name",
  },
  memberships: {
    async make(api, org, names) {
      const { path } = await api.groups.createGroup({ parentPath: org, group: { name: "all" } });
      for (const name of names) {
        const { path: memberPath } = await api.members.createMember({ parentPath: org, member: { name } });
        await api.groupMembers.createGroupMember({ parentPath: path, groupMember: { memberPath } });
      }
      return path;
    },
    list: async (api, parentPath, query) =>
      page("members", await api.groupMembers.listGroupMembers({ parentPath, ...withoutDeleted(query) })),
    textOrder: undefined,
  },
  subgroups: {
    async make(api, org, names) {
      const { path } = await api.groups.createGroup({ parentPath: org, group: { name: "all" } });
      for (const name of names) {
        const { path: groupPath } = await api.groups.createGroup({ parentPath: org, group: { name } });
        await api.groupMembers.createSubgroup({ parentPath: path, subgroup: { groupPath } });
      }
      return path;
    },
    list: async (api, parentPath, query) =>
      page("subgroups", await api.groupMembers.listSubgroups({ parentPath, ...withoutDeleted(query) })),
    textOrder: undefined,
  },
  roles: {
    async make(api, org, names) {
      for (const name of names) await api.roles.createRole({ parentPath: org, role: { name } });
      return org;
    },
    list: async (api, parentPath, query) =>
      page("roles", await api.roles.listRoles({ parentPath, ...withoutDeleted(query) })),
    textOrder: "name",
  },
  "role bindings": {
    make: (api, org, names) => grantEach(api, org, org, names),
    list: listRoleBindings,
    textOrder: "name",
  },
  "role bindings of projects": {
    async make(api, org, names) {
      const { path } = await api.projects.createProject({ parentPath: org, project: { name: "web" } });
      return grantEach(api, org, path, names);
    },
    list: listRoleBindings,
    textOrder: "name",
  },
};

/** Not in the order of the alphabet. */
const suffixes = ["delta", "alpha", "echo", "bravo", "charlie"];

describe.each(["REST", "gRPC"] as const)("over %s", (protocol) => {
  describe.each(Object.entries(lists))("%s", (_name, listed) => {
    let api: Api;
    let parent: string;
    let names: string[];
    let items: readonly Item[];

    beforeAll(async () => {
      api = createApi(protocol, server.url, server.operatorKey);
      const org = await api.orgs.createOrg({ org: { name: uniqueName("lists") } });
      const start = uniqueName("item");
      names = suffixes.map((suffix) => `${start}-${suffix}`);
      parent = await listed.make(api, org.path, names);
      ({ items } = await listed.list(api, parent, {}));
    });

    const namesOf = async (query: Query): Promise<string[]> =>
      (await listed.list(api, parent, query)).items.map(({ name }) => name);

    test("are listed in the order of their creation", () => {
      expect(items.map(({ name }) => name)).toEqual(names);
    });

    test("can be filtered by what every resource has", async () => {
      const [, alpha] = items;
      for (const [field, value] of Object.entries({
        name: alpha?.name,
        id: alpha?.id,
        path: alpha?.path,
      })) {
        expect(await namesOf({ filter: `${field} = "${value}"` })).toEqual([alpha?.name]);
      }
      expect(await namesOf({ filter: `etag = "${alpha?.etag}"` })).toContain(alpha?.name);
      expect(await namesOf({ filter: 'name = "*-alpha" OR name = "*-bravo"' })).toEqual([names[1], names[3]]);
      expect(await namesOf({ filter: "NOT alpha AND -bravo" })).toEqual([names[0], names[2], names[4]]);
      expect(await namesOf({ filter: 'create_time > "2020-01-01T00:00:00Z"' })).toEqual(names);
      expect(await namesOf({ filter: 'update_time < "2020-01-01T00:00:00Z"' })).toEqual([]);
    });

    test("can be ordered", async () => {
      expect(await namesOf({ orderBy: "create_time desc, id desc" })).toEqual(names.toReversed());
      if (listed.textOrder === undefined) return;
      expect(await namesOf({ orderBy: listed.textOrder })).toEqual(names.toSorted());
      expect(await namesOf({ orderBy: `${listed.textOrder} desc` })).toEqual(names.toSorted().toReversed());
    });

    test.each([1, 2, 5])("are paged by %i, whatever the filter and the order", async (pageSize) => {
      const query = { filter: 'name != "*-echo"', orderBy: listed.textOrder ?? "update_time desc", pageSize };
      const whole = await namesOf({ ...query, pageSize: 1000 });
      expect(whole).toHaveLength(4);
      const paged: string[] = [];
      let pageToken = "";
      do {
        const answer = await listed.list(api, parent, { ...query, pageToken });
        expect(answer.items.length).toBeLessThanOrEqual(pageSize);
        paged.push(...answer.items.map(({ name }) => name));
        pageToken = answer.nextPageToken;
      } while (pageToken !== "");
      expect(paged).toEqual(whole);
    });

    test("refuse a page token for another filter or order", async () => {
      const { nextPageToken: pageToken } = await listed.list(api, parent, { pageSize: 1, filter: 'name = "*"' });
      for (const other of [{ filter: 'name = "*a"' }, { filter: 'name = "*"', orderBy: "create_time" }]) {
        const failure = await failureOf(listed.list(api, parent, { pageSize: 1, pageToken, ...other }));
        expect(failure).toMatchObject({ code: "InvalidArgument", reason: "PAGE_TOKEN_INVALID" });
      }
    });

    test.each([
      [{ filter: 'name = "x' }, "filter", "column 8"],
      [{ filter: "nome = x" }, "filter", "display_name"],
      [{ filter: "name > " }, "filter", "column"],
      [{ filter: "matches(name, 'x')" }, "filter", "matches"],
      [{ filter: "create_time > yesterday" }, "filter", "2026-01-31T12:00:00Z"],
      [{ filter: "(".repeat(1000) }, "filter", "32"],
      [{ orderBy: "nome" }, "order_by", "create_time"],
      [{ orderBy: "create_time down" }, "order_by", "desc"],
      [{ orderBy: "id, id" }, "order_by", "already"],
    ])("refuse %j", async (query, field, message) => {
      if (listed === lists["orgs"] && "filter" in query) return; // Its filter is part of another one here.
      const failure = await failureOf(listed.list(api, parent, query));
      expect(failure).toMatchObject({ code: "InvalidArgument", reason: "FIELD_INVALID", fields: [field] });
      expect(failure.message).toContain(message);
    });
  });
});

test("a list that is paged while others write has each row once that was there throughout", async () => {
  const api = createApi("gRPC", server.url, server.operatorKey);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("page", "create", "delete", "rename"), { minLength: 10, maxLength: 25 }),
      fc.constantFrom("", "name", "create_time desc", "update_time, name desc"),
      fc.integer({ min: 1, max: 4 }),
      async (steps, orderBy, pageSize) => {
        const { path: org } = await api.orgs.createOrg({ org: { name: uniqueName("busy") } });
        const create = async (): Promise<string> =>
          (await api.projects.createProject({ parentPath: org, project: { name: uniqueName("p") } })).id;
        const steady = await Promise.all(Array.from({ length: 8 }, create));
        const passing = [await create(), await create()];
        const seen: string[] = [];
        const pager = { token: "", isDone: false };
        const turn = async (): Promise<void> => {
          if (pager.isDone) return;
          const query = { parentPath: org, orderBy, pageSize, pageToken: pager.token };
          const answer = await api.projects.listProjects(query);
          seen.push(...answer.projects.map(({ id }) => id));
          pager.token = answer.nextPageToken;
          pager.isDone = answer.nextPageToken === "";
        };
        for (const step of steps) {
          const id = passing.at(-1);
          if (step === "page") await turn();
          else if (step === "create" || id === undefined) passing.push(await create());
          else if (step === "delete") await api.projects.deleteProject({ path: `${org}/projects/@${passing.pop()}` });
          else {
            const project = { name: uniqueName("renamed") };
            await api.projects.updateProject({ path: `${org}/projects/@${id}`, project });
          }
        }
        while (!pager.isDone) await turn();
        expect(seen.filter((id) => steady.includes(id)).toSorted()).toEqual(steady.toSorted());
      },
    ),
    { numRuns: 25 },
  );
}, 120_000);
