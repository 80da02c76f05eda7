// Lists over all orgs contain only what the caller can list in each org.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type Caller, type Company, openCompany } from "./callers.ts";

const denied = { code: "PermissionDenied", reason: "PERMISSION_DENIED" };
const system = "/orgs/system";

/** The paths on a page of any list. */
interface Listed {
  readonly paths: readonly string[];
  readonly totalSize?: number | undefined;
  readonly nextPageToken: string;
}

interface ListOptions {
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly filter?: string;
  readonly orderBy?: string;
}

type List = (caller: Caller, options?: ListOptions) => Promise<Listed>;

const pathsOf = (items: readonly { readonly path: string }[]): string[] => items.map(({ path }) => path);

/** All lists with `-` for the org, or without a parent. */
const lists: Readonly<Record<string, List>> = {
  orgs: async ({ orgs }, options = {}) => {
    const answer = await orgs.listOrgs({ pageSize: 1000, ...options });
    return { ...answer, paths: pathsOf(answer.orgs) };
  },
  projects: async ({ projects }, options = {}) => {
    const answer = await projects.listProjects({ parentPath: "/orgs/-", pageSize: 1000, ...options });
    return { ...answer, paths: pathsOf(answer.projects) };
  },
  members: async ({ members }, options = {}) => {
    const answer = await members.listMembers({ parentPath: "/orgs/-", pageSize: 1000, ...options });
    return { ...answer, paths: pathsOf(answer.members) };
  },
  "API keys": async ({ apiKeys }, options = {}) => {
    const answer = await apiKeys.listApiKeys({ parentPath: "/orgs/-/members/-", pageSize: 1000, ...options });
    return { ...answer, paths: pathsOf(answer.apiKeys) };
  },
  groups: async ({ groups }, options = {}) => {
    const answer = await groups.listGroups({ parentPath: "/orgs/-", pageSize: 1000, ...options });
    return { ...answer, paths: pathsOf(answer.groups) };
  },
  memberships: async ({ groupMembers }, options = {}) => {
    const answer = await groupMembers.listGroupMembers({ parentPath: "/orgs/-/groups/-", pageSize: 1000, ...options });
    return { ...answer, paths: pathsOf(answer.members) };
  },
  subgroups: async ({ groupMembers }, options = {}) => {
    const answer = await groupMembers.listSubgroups({ parentPath: "/orgs/-/groups/-", pageSize: 1000, ...options });
    return { ...answer, paths: pathsOf(answer.subgroups) };
  },
  roles: async ({ roles }, options = {}) => {
    const answer = await roles.listRoles({ parentPath: "/orgs/-", pageSize: 1000, ...options });
    return { ...answer, paths: pathsOf(answer.roles) };
  },
  "role bindings": async ({ roleBindings }, options = {}) => {
    const answer = await roleBindings.listRoleBindings({ parentPath: "/orgs/-", pageSize: 1000, ...options });
    return { ...answer, paths: pathsOf(answer.roleBindings) };
  },
  "role bindings of projects": async ({ roleBindings }, options = {}) => {
    const parentPath = "/orgs/-/projects/-";
    const answer = await roleBindings.listRoleBindings({ parentPath, pageSize: 1000, ...options });
    return { ...answer, paths: pathsOf(answer.roleBindings) };
  },
};

/** Creates resources for every list in an org. Returns the path of the org. */
async function furnish({ api, org, join, bind }: Company): Promise<string> {
  const parentPath = org.path;
  const member = await join("resident");
  const inner = await api.groups.createGroup({ parentPath, group: { name: "inner" } });
  const outer = await api.groups.createGroup({ parentPath, group: { name: "outer" } });
  await api.groupMembers.createGroupMember({ parentPath: inner.path, groupMember: { memberPath: member.path } });
  await api.groupMembers.createSubgroup({ parentPath: outer.path, subgroup: { groupPath: inner.path } });
  const web = await api.projects.createProject({ parentPath, project: { name: "web" } });
  await api.roles.createRole({ parentPath, role: { name: "deployer" } });
  await bind(parentPath, "groups-admin", member);
  await bind(web.path, "groups-admin", member);
  return parentPath;
}

/** Returns the distinct orgs of the paths. */
function orgsIn(paths: readonly string[]): string[] {
  return [...new Set(paths.map((path) => path.split("/").slice(0, 3).join("/")))].toSorted();
}

let server: TestServer;
let company: Company;
/** Paths of orgs: two of one customer, and one of another. */
let [acme, sibling, stranger] = ["", "", ""];

beforeAll(async () => {
  server = await startTestServer();
  company = await openCompany("gRPC", server);
  acme = await furnish(company);
  sibling = await furnish(await openCompany("gRPC", server, company.org.customerPath));
  stranger = await furnish(await openCompany("gRPC", server));
});
afterAll(() => server.close());

let serial = 0;
const newName = (): string => `caller-${++serial}`;

describe.each(Object.entries(lists))("a list of all %s", (_what, list) => {
  test("returns the resources of the caller's org to a member, without a total size", async () => {
    const viewer = await company.joinAs("viewer", newName());
    const { paths, totalSize } = await list(viewer);
    expect(orgsIn(paths)).toEqual([acme]);
    expect(totalSize).toBeUndefined();
  });

  test("returns the resources of all orgs of a customer to a viewer of the customer", async () => {
    const viewer = await company.join(newName());
    await company.bind(company.org.customerPath, "viewer", viewer);
    const { paths, totalSize } = await list(viewer);
    expect(orgsIn(paths)).toEqual([acme, sibling].toSorted());
    expect(totalSize).toBeUndefined();
  });

  test("returns everything to a viewer of the platform", async () => {
    const viewer = await company.join(newName(), system);
    await company.bind("", "viewer", viewer);
    const { paths } = await list(viewer);
    expect(orgsIn(paths)).toEqual(expect.arrayContaining([acme, sibling, stranger]));
  });

  test("is denied to a caller without the permission, and to one with a role only on a project", async () => {
    const caller = await company.join(newName());
    expect(await failureOf(list(caller))).toMatchObject(denied);
    await company.bind(`${acme}/projects/web`, "owner", caller);
    expect(await failureOf(list(caller))).toMatchObject(denied);
  });

  test("has pages without gaps, and is denied when the permission is lost", async () => {
    const viewer = await company.join(newName());
    const binding = await company.bind(company.org.customerPath, "viewer", viewer);
    const found: string[] = [];
    let pageToken = "";
    do {
      const page = await list(viewer, { pageSize: 1, pageToken });
      expect(page.paths.length).toBe(1);
      found.push(...page.paths);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(found).toEqual((await list(viewer)).paths);
    expect(orgsIn(found)).toEqual([acme, sibling].toSorted());

    const { nextPageToken } = await list(viewer, { pageSize: 1 });
    await company.api.roleBindings.deleteRoleBinding({ path: binding });
    expect(await failureOf(list(viewer, { pageSize: 1, pageToken: nextPageToken }))).toMatchObject(denied);
  });
});

describe("between two pages", () => {
  let viewer: Caller;
  let [ofCustomer, ofOrg] = ["", ""];
  beforeEach(async () => {
    viewer = await company.join(newName());
    ofCustomer = await company.bind(company.org.customerPath, "viewer", viewer);
    ofOrg = await company.bind(acme, "viewer", viewer);
  });

  /** Returns all paths after the first page. */
  async function rest(list: List, first: Listed, caller = viewer): Promise<string[]> {
    const paths: string[] = [];
    for (let pageToken = first.nextPageToken; pageToken !== "";) {
      const page = await list(caller, { pageSize: 1, pageToken });
      paths.push(...page.paths);
      pageToken = page.nextPageToken;
    }
    return paths;
  }

  test.each(["orgs", "projects"])("%s disappear with the permission to list them", async (what) => {
    const list = lists[what] as List;
    const first = await list(viewer, { pageSize: 1 });
    await company.api.roleBindings.deleteRoleBinding({ path: ofCustomer });
    expect(orgsIn([...(await rest(list, first)), acme])).toEqual([acme]);
    await company.api.roleBindings.deleteRoleBinding({ path: ofOrg });
    expect(await failureOf(list(viewer, { pageToken: first.nextPageToken }))).toMatchObject(denied);
  });

  test("the page token of another caller reveals nothing that the caller cannot list", async () => {
    const operator = await company.join(newName(), system);
    await company.bind("", "viewer", operator);
    for (const list of [lists["orgs"] as List, lists["members"] as List]) {
      const first = await list(operator, { pageSize: 1 });
      expect(orgsIn([...(await rest(list, first)), acme, sibling])).toEqual([acme, sibling].toSorted());
    }
  });
});

describe("a trimmed list", () => {
  test("is trimmed with any filter and order", async () => {
    const viewer = await company.join(newName());
    await company.bind(company.org.customerPath, "viewer", viewer);
    const list = lists["members"] as List;
    const { paths, totalSize } = await list(viewer, { filter: 'name = "resident"', orderBy: "create_time desc" });
    expect(paths).toEqual([`${sibling}/members/resident`, `${acme}/members/resident`]);
    expect(totalSize).toBeUndefined();
    const any = await list(viewer, { filter: 'name = "resident" OR NOT name = "resident"' });
    expect(orgsIn(any.paths)).toEqual([acme, sibling].toSorted());
  });

  test("depends on the permission of this list", async () => {
    const caller = await company.joinAs("groups-admin", newName());
    expect(orgsIn((await (lists["groups"] as List)(caller)).paths)).toEqual([acme]);
    expect(await failureOf((lists["projects"] as List)(caller))).toMatchObject(denied);
  });

  test("is denied for another org", async () => {
    const caller = await company.joinAs("owner", newName());
    for (const parentPath of [sibling, stranger, "/orgs/no-such-org"]) {
      expect(await failureOf(caller.projects.listProjects({ parentPath }))).toMatchObject(denied);
      expect(await failureOf(caller.roles.listRoles({ parentPath }))).toMatchObject(denied);
    }
  });

  test("respects the conditions of bindings", async () => {
    const caller = await company.join(newName());
    await company.bind(acme, "viewer", caller, `resource.path == "${acme}"`);
    expect(orgsIn((await (lists["orgs"] as List)(caller)).paths)).toEqual([acme]);
    const other = await company.join(newName());
    await company.bind(acme, "viewer", other, "false");
    expect(await failureOf((lists["orgs"] as List)(other))).toMatchObject(denied);
  });
});

describe("resources of any org", () => {
  const web = (): string => `${acme}/projects/web`;

  test("require the permission on the platform in a batch, even of resources in the caller's own org", async () => {
    const owner = await company.joinAs("owner", newName());
    const request = { parentPath: "/orgs/-", paths: [web()] };
    expect(await failureOf(owner.projects.batchGetProjects(request))).toMatchObject(denied);
    expect(await failureOf(owner.orgs.batchGetOrgs({ paths: [acme] }))).toMatchObject(denied);
    const { projects } = await owner.projects.batchGetProjects({ parentPath: acme, paths: [web()] });
    expect(pathsOf(projects)).toEqual([web()]);
  });

  test("are found by a viewer of the platform", async () => {
    const viewer = await company.join(newName(), system);
    await company.bind("", "viewer", viewer);
    const paths = [web(), `${stranger}/projects/web`];
    const { projects } = await viewer.projects.batchGetProjects({ parentPath: "/orgs/-", paths });
    expect(pathsOf(projects)).toEqual(paths);
    expect(pathsOf((await viewer.orgs.batchGetOrgs({ paths: [acme, stranger] })).orgs)).toEqual([acme, stranger]);
  });

  test("are not found with - by a caller who can read them in their org", async () => {
    const owner = await company.joinAs("owner", newName());
    const { id } = await owner.projects.getProject({ path: web() });
    expect(await failureOf(owner.projects.getProject({ path: `/orgs/-/projects/@${id}` }))).toMatchObject(denied);
  });
});
