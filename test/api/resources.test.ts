// What every resource does, over every protocol: one table, so that a resource that behaves otherwise fails.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { protocols } from "../support/transports.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** What all resources answer. */
interface Item {
  readonly path: string;
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly description?: string;
  readonly etag: string;
  readonly labels?: Record<string, string>;
  readonly createTime?: unknown;
  readonly updateTime?: unknown;
  readonly deleteTime?: unknown;
  readonly purgeTime?: unknown;
}

interface NamedResource {
  create(
    api: Api,
    parent: string,
    fields: { name: string; displayName?: string; labels?: Record<string, string> },
  ): Promise<Item>;
  get(api: Api, path: string): Promise<Item>;
  list(
    api: Api,
    parent: string,
    page: { pageSize?: number; pageToken?: string; showDeleted?: boolean },
  ): Promise<{ items: Item[]; nextPageToken: string }>;
  update(api: Api, path: string, fields: Record<string, unknown>, mask?: string[]): Promise<Item>;
  delete(api: Api, path: string, etag?: string): Promise<unknown>;
  /** Whether a deleted one stays readable. */
  readonly staysReadable: boolean;
}

const resources: Record<string, NamedResource> = {
  projects: {
    create: (api, parentPath, project) => api.projects.createProject({ parentPath, project }),
    get: (api, path) => api.projects.getProject({ path }),
    list: async (api, parentPath, page) => {
      const { projects, nextPageToken } = await api.projects.listProjects({ parentPath, ...page });
      return { items: projects, nextPageToken };
    },
    update: (api, path, project, paths) =>
      api.projects.updateProject({ path, project, ...(paths && { updateMask: { paths } }) }),
    delete: (api, path, etag = "") => api.projects.deleteProject({ path, etag }),
    staysReadable: true,
  },
  members: {
    create: (api, parentPath, member) => api.members.createMember({ parentPath, member }),
    get: (api, path) => api.members.getMember({ path }),
    list: async (api, parentPath, page) => {
      const { members, nextPageToken } = await api.members.listMembers({ parentPath, ...page });
      return { items: members, nextPageToken };
    },
    update: (api, path, member, paths) =>
      api.members.updateMember({ path, member, ...(paths && { updateMask: { paths } }) }),
    delete: (api, path, etag = "") => api.members.deleteMember({ path, etag }),
    staysReadable: true,
  },
  groups: {
    create: (api, parentPath, group) => api.groups.createGroup({ parentPath, group }),
    get: (api, path) => api.groups.getGroup({ path }),
    list: async (api, parentPath, { pageSize = 0, pageToken = "" }) => {
      const { groups, nextPageToken } = await api.groups.listGroups({ parentPath, pageSize, pageToken });
      return { items: groups, nextPageToken };
    },
    update: (api, path, group, paths) =>
      api.groups.updateGroup({ path, group, ...(paths && { updateMask: { paths } }) }),
    delete: (api, path, etag = "") => api.groups.deleteGroup({ path, etag }),
    staysReadable: false,
  },
  roles: {
    create: (api, parentPath, role) => api.roles.createRole({ parentPath, role }),
    get: (api, path) => api.roles.getRole({ path }),
    list: async (api, parentPath, { pageSize = 0, pageToken = "" }) => {
      const { roles, nextPageToken } = await api.roles.listRoles({ parentPath, pageSize, pageToken });
      return { items: roles, nextPageToken };
    },
    update: (api, path, role, paths) => api.roles.updateRole({ path, role, ...(paths && { updateMask: { paths } }) }),
    delete: (api, path, etag = "") => api.roles.deleteRole({ path, etag }),
    staysReadable: false,
  },
};

describe.each(protocols)("over %s", (protocol) => {
  let api: Api;
  let org: Item;
  beforeAll(async () => {
    api = createApi(protocol, server.url, server.operatorKey);
    org = await api.orgs.createOrg({ org: { name: uniqueName("acme"), displayName: "Acme" } });
  });

  describe.each(Object.entries(resources))("%s", (collection, resource) => {
    const create = (fields: { displayName?: string; labels?: Record<string, string> } = {}) =>
      resource.create(api, org.path, { name: uniqueName("item"), ...fields });

    test("answer what was created, under its name and its id", async () => {
      const created = await create({ displayName: "An Ítem", labels: { tier: "gold" } });
      expect(created).toMatchObject({
        path: `${org.path}/${collection}/${created.name}`,
        displayName: "An Ítem",
        labels: { tier: "gold" },
      });
      expect(created.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(created.createTime).toEqual(created.updateTime);
      expect(await resource.get(api, created.path)).toEqual(created);
      expect(await resource.get(api, created.path.slice(1))).toEqual(created);
      expect(await resource.get(api, `${org.path}/${collection}/@${created.id}`)).toEqual(created);
      expect(await resource.get(api, `/orgs/@${org.id}/${collection}/${created.name}`)).toEqual(created);
      expect(await resource.get(api, `/orgs/-/${collection}/@${created.id}`)).toEqual(created);
    });

    test("take their name as display name when none is given", async () => {
      const created = await create();
      expect(created.displayName).toBe(created.name);
    });

    test("keep names unique among siblings", async () => {
      const { name } = await create();
      const failure = await failureOf(resource.create(api, org.path, { name }));
      expect(failure).toMatchObject({ code: "AlreadyExists", reason: "RESOURCE_EXISTS", metadata: { name } });
      const other = await api.orgs.createOrg({ org: { name: uniqueName("other") } });
      await resource.create(api, other.path, { name });
    });

    test("change the fields that the mask names and no others", async () => {
      const created = await create({ displayName: "Before", labels: { a: "1", b: "2" } });
      const changed = await resource.update(api, created.path, { displayName: "After", labels: { c: "3" } }, [
        "display_name",
      ]);
      expect(changed).toMatchObject({ displayName: "After", labels: { a: "1", b: "2" }, name: created.name });
      expect(changed.etag).not.toBe(created.etag);
      const relabelled = await resource.update(api, created.path, { labels: { a: "9" } }, ["labels.a", "labels.b"]);
      expect(relabelled.labels).toEqual({ a: "9" });
      expect(await resource.get(api, created.path)).toEqual(relabelled);
    });

    test("can be renamed; the new name works at once and the old one is free", async () => {
      const created = await create();
      const name = uniqueName("renamed");
      const renamed = await resource.update(api, created.path, { name }, ["name"]);
      expect(renamed).toMatchObject({ name, id: created.id, path: `${org.path}/${collection}/${name}` });
      expect(await failureOf(resource.get(api, created.path))).toMatchObject({ code: "NotFound" });
      expect(await resource.get(api, renamed.path)).toEqual(renamed);
      await resource.create(api, org.path, { name: created.name });
    });

    test("leave everything as it is when an update changes nothing", async () => {
      const created = await create();
      expect(await resource.update(api, created.path, { displayName: created.displayName }, ["display_name"])).toEqual(
        created,
      );
    });

    test("refuse a stale etag and take the current one", async () => {
      const created = await create();
      const changed = await resource.update(api, created.path, { description: "one" }, ["description"]);
      const late = resource.update(api, created.path, { description: "two", etag: created.etag }, ["description"]);
      expect(await failureOf(late)).toMatchObject({ code: "Aborted", reason: "ETAG_STALE" });
      expect(await failureOf(resource.delete(api, created.path, created.etag))).toMatchObject({ code: "Aborted" });
      const current = await resource.update(api, created.path, { description: "three", etag: changed.etag }, [
        "description",
      ]);
      await resource.delete(api, created.path, current.etag);
    });

    test("are gone from names and lists when deleted", async () => {
      const created = await create();
      await resource.delete(api, created.path);
      expect(await failureOf(resource.get(api, created.path))).toMatchObject({
        code: "NotFound",
        reason: "RESOURCE_NOT_FOUND",
      });
      const { items } = await resource.list(api, org.path, { pageSize: 1000 });
      expect(items.map((item) => item.id)).not.toContain(created.id);
      expect(await failureOf(resource.delete(api, created.path))).toMatchObject({ code: "NotFound" });
      await resource.create(api, org.path, { name: created.name });
    });

    test.runIf(resource.staysReadable)("stay readable under their id when deleted, and cannot be changed", async () => {
      const created = await create();
      await resource.delete(api, created.path);
      const path = `${org.path}/${collection}/@${created.id}`;
      const deleted = await resource.get(api, path);
      expect(deleted).toMatchObject({
        path,
        name: created.name,
        deleteTime: expect.anything(),
        purgeTime: expect.anything(),
      });
      const { items } = await resource.list(api, org.path, { pageSize: 1000, showDeleted: true });
      expect(items).toContainEqual(deleted);
      const update = resource.update(api, path, { description: "x" }, ["description"]);
      expect(await failureOf(update)).toMatchObject({ code: "FailedPrecondition", reason: "STATE_FORBIDS" });
      expect(await failureOf(resource.delete(api, path))).toMatchObject({ code: "FailedPrecondition" });
    });

    test("are listed page by page, each once, in the order of their creation", async () => {
      const own = await api.orgs.createOrg({ org: { name: uniqueName("paged") } });
      const names: string[] = [];
      for (let count = 0; count < 7; count++)
        names.push((await resource.create(api, own.path, { name: uniqueName("p") })).name);
      const seen: string[] = [];
      let pageToken = "";
      do {
        const page = await resource.list(api, own.path, { pageSize: 3, pageToken });
        expect(page.items.length).toBeLessThanOrEqual(3);
        seen.push(...page.items.map((item) => item.name));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(seen).toEqual(names);
    });

    test("refuse a page token of another list", async () => {
      await create();
      await create();
      const { nextPageToken } = await resource.list(api, org.path, { pageSize: 1 });
      expect(nextPageToken).not.toBe("");
      const other = await api.orgs.createOrg({ org: { name: uniqueName("other") } });
      const failure = await failureOf(resource.list(api, other.path, { pageToken: nextPageToken }));
      expect(failure).toMatchObject({ code: "InvalidArgument", reason: "PAGE_TOKEN_INVALID", fields: ["page_token"] });
    });

    test("refuse to be created under an org that is not there", async () => {
      const parent = `/orgs/${uniqueName("nowhere")}`;
      expect(await failureOf(resource.create(api, parent, { name: "x" }))).toMatchObject({ code: "NotFound" });
      expect(await failureOf(resource.list(api, parent, {}))).toMatchObject({ code: "NotFound" });
    });

    test("refuse names and display names that break a rule, naming field and rule", async () => {
      const singular = collection.slice(0, -1);
      const name = await failureOf(resource.create(api, org.path, { name: "Not A Name" }));
      expect(name).toMatchObject({ code: "InvalidArgument", reason: "FIELD_INVALID", fields: [`${singular}.name`] });
      expect(name.message).toContain("lowercase letters");
      expect(await failureOf(resource.create(api, org.path, { name: "" }))).toMatchObject({
        fields: [`${singular}.name`],
      });
      const created = await create();
      const longs = { displayName: "Ä".repeat(513) };
      expect(await failureOf(resource.update(api, created.path, longs, ["display_name"]))).toMatchObject({
        fields: [`${singular}.display_name`],
        message: expect.stringContaining("at most 512 Unicode characters"),
      });
      const lowers = { displayName: "a".repeat(65) };
      expect(await failureOf(resource.update(api, created.path, lowers, ["display_name"]))).toMatchObject({
        fields: [`${singular}.display_name`],
        message: expect.stringContaining("at most 64 lowercase"),
      });
      expect(await failureOf(resource.update(api, created.path, { name: "" }, ["name"]))).toMatchObject({
        fields: [`${singular}.name`],
      });
    });

    test("refuse - where one resource is meant", async () => {
      for (const path of [`${org.path}/${collection}/-`, `/orgs/-/${collection}/x`]) {
        expect(await failureOf(resource.get(api, path))).toMatchObject({ code: "InvalidArgument", fields: ["path"] });
      }
      const created = await create();
      const anywhere = `/orgs/-/${collection}/@${created.id}`;
      expect(await failureOf(resource.delete(api, anywhere))).toMatchObject({
        code: "InvalidArgument",
        fields: ["path"],
      });
      expect(await failureOf(resource.create(api, "/orgs/-", { name: "x" }))).toMatchObject({
        fields: ["parent_path"],
      });
    });
  });
});
