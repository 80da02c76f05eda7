// Tests that lists through `-` follow suspensions at once: on every server, between two pages, and with answers that are kept.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type Caller, type Company, openCompany } from "./callers.ts";

const system = "/orgs/system";

let one: TestServer;
let other: TestServer;
beforeAll(async () => {
  one = await startTestServer();
  other = await startTestServer({ databaseUrl: one.databaseUrl });
});
afterAll(async () => {
  await other.close();
  await one.close();
});

/** On the first server. */
let company: Company;
/** The paths of a project and a binding on it. */
let [web, binding] = ["", ""];
beforeEach(async () => {
  company = await openCompany("gRPC", one);
  const project = { name: uniqueName("web") };
  web = (await company.api.projects.createProject({ parentPath: company.org.path, project })).path;
  binding = await company.bind(web, "viewer", await company.join("worker"));
});

/** Returns a viewer of the platform or a customer. */
async function auditorOf(scope: string, org = system): Promise<Caller> {
  const auditor = await company.join(uniqueName("auditor"), org);
  await company.bind(scope, "viewer", auditor);
  return auditor;
}

type List = (api: Pick<Caller, "projects" | "roleBindings">) => Promise<string[]>;

const pathsOf = (items: readonly { readonly path: string }[]): string[] => items.map(({ path }) => path);

const projectsOfAll: List = async ({ projects }) =>
  pathsOf((await projects.listProjects({ parentPath: "/orgs/-", pageSize: 1000 })).projects);

const bindingsIn =
  (parentPath: () => string): List =>
  async ({ roleBindings }) =>
    pathsOf((await roleBindings.listRoleBindings({ parentPath: parentPath(), pageSize: 1000 })).roleBindings);

const suspendOrg = () => company.api.orgs.suspendOrg({ path: company.org.path });
const activateOrg = () => company.api.orgs.activateOrg({ path: company.org.path });
const suspendProject = () => company.api.projects.suspendProject({ path: web });
const activateProject = () => company.api.projects.activateProject({ path: web });

describe.each<[string, List, () => string, () => Promise<unknown>, () => Promise<unknown>]>([
  ["the projects of all orgs", projectsOfAll, () => web, suspendOrg, activateOrg],
  ["the bindings of all projects", bindingsIn(() => "/orgs/-/projects/-"), () => binding, suspendOrg, activateOrg],
  [
    "those of projects of all orgs",
    bindingsIn(() => "/orgs/-/projects/-"),
    () => binding,
    suspendProject,
    activateProject,
  ],
  [
    "those of all projects of an org",
    bindingsIn(() => `${company.org.path}/projects/-`),
    () => binding,
    suspendProject,
    activateProject,
  ],
])("a list of %s", (_what, list, found, suspend, activate) => {
  test("does not show on another server what was suspended before, and shows it again once that is lifted", async () => {
    const auditors = [await auditorOf(""), await auditorOf(company.org.customerPath, company.org.path)];
    const readers = auditors.map(({ key }) => createApi("REST", other.url, key));
    const operator = createApi("gRPC", other.url, one.operatorKey);
    for (let round = 0; round < 3; round++) {
      // Answers are kept from the second time on.
      for (let time = 0; time < 3; time++) {
        for (const reader of [...readers, operator]) expect(await list(reader)).toContain(found());
      }
      await suspend();
      for (let time = 0; time < 3; time++) {
        for (const reader of readers) {
          expect(await list(reader).catch(failureOfOwn)).not.toContain(found());
        }
        expect(await list(operator)).toContain(found());
      }
      await activate();
    }
  });
});

/** A member of the suspended org sees nothing else. */
async function failureOfOwn(error: unknown): Promise<string[]> {
  const { reason } = await failureOf(Promise.reject(error));
  expect(reason).toBe("PERMISSION_DENIED");
  return [];
}

describe("pages of all orgs", () => {
  let auditor: Caller;
  beforeEach(async () => {
    auditor = await auditorOf("");
  });

  async function walk(first: { readonly pageToken?: string } = {}): Promise<string[]> {
    const paths: string[] = [];
    let pageToken = first.pageToken ?? "";
    do {
      const request = { parentPath: "/orgs/-", pageSize: 1, pageToken };
      const page = await auditor.projects.listProjects(request);
      expect(page.totalSize).toBeUndefined();
      paths.push(...pathsOf(page.projects));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return paths;
  }

  test("are as full as others, and without gaps", async () => {
    const sibling = await openCompany("gRPC", one, company.org.customerPath);
    const shop = await sibling.api.projects.createProject({ parentPath: sibling.org.path, project: { name: "shop" } });
    expect(await walk()).toEqual(expect.arrayContaining([web, shop.path]));
    await suspendOrg();
    const paths = await walk();
    expect(paths).not.toContain(web);
    expect(paths).toEqual(await projectsOfAll(auditor));
    expect(paths.at(-1)).toBe(shop.path);
  });

  test("end before what is suspended in between", async () => {
    const { nextPageToken } = await auditor.projects.listProjects({
      parentPath: "/orgs/-",
      pageSize: (await projectsOfAll(auditor)).length - 1,
    });
    expect(await walk({ pageToken: nextPageToken })).toEqual([web]);
    await suspendOrg();
    expect(await walk({ pageToken: nextPageToken })).toEqual([]);
  });

  test("show nothing by a filter or an order", async () => {
    await suspendOrg();
    const [, , , , name] = web.split("/");
    for (const filter of [`name = "${name}"`, `NOT name = "x"`, `name = "x" OR name = "${name}"`, `"${name}"`]) {
      for (const orderBy of ["", "name", "create_time desc"]) {
        const { projects } = await auditor.projects.listProjects({
          parentPath: "/orgs/-",
          filter,
          orderBy,
          pageSize: 1000,
        });
        expect(pathsOf(projects)).not.toContain(web);
      }
    }
  });
});

test("who may lift the suspension keeps its lists through -, on the platform, of a customer and in its own org", async () => {
  const owners = [
    await company.join(uniqueName("owner"), system),
    await company.join("owner-of-customer"),
    await company.joinAs("owner"),
  ];
  await company.bind("", "owner", owners[0] as Caller);
  await company.bind(company.org.customerPath, "owner", owners[1] as Caller);
  await suspendProject();
  const lists = [
    projectsOfAll,
    bindingsIn(() => "/orgs/-/projects/-"),
    bindingsIn(() => `${company.org.path}/projects/-`),
  ];
  const expected = [web, binding, binding];
  for (const owner of owners) {
    for (const [index, list] of lists.entries()) expect(await list(owner)).toContain(expected[index]);
  }
  await suspendOrg();
  for (const owner of owners) {
    for (const [index, list] of lists.entries()) expect(await list(owner)).toContain(expected[index]);
  }
});
