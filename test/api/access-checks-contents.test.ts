// Tests the list of resources in projects on which a subject has a permission, which agrees with single checks.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ListResourcesRequest_Kind } from "../../gen/iam/v1alpha/access_pb.ts";
import { required } from "../../src/errors/required.ts";
import { type Cloud, openCloud } from "../resources/cloud.ts";
import { type AccessClient, createAccessClient } from "../support/access-place.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { overFirst } from "../support/transports.ts";

let server: SharedServer;
let sql: SqlClient;
beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(() => sql.close());

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  let api: Api;
  let access: AccessClient;
  let cloud: Cloud;
  let alice: string;
  /** The paths of the instances: two in the project of the cloud, and one in another project. */
  let instances: readonly string[];
  let other: string;
  let start: string;

  beforeAll(async () => {
    api = createApi(protocol, server.url, server.operatorKey);
    access = createAccessClient(protocol, server.url, server.operatorKey);
    cloud = await openCloud(protocol, server.url, server.operatorKey);
    ({ path: alice } = await api.members.createMember({
      parentPath: cloud.org,
      member: { name: uniqueName("alice") },
    }));
    const project = { name: uniqueName("dev"), labels: { env: "dev" } };
    ({ path: other } = await api.projects.createProject({ parentPath: cloud.org, project }));
    start = `${cloud.service}.instances.start`;
    const made = [];
    for (const name of ["one", "two"]) made.push(await cloud.create(uniqueName(name)));
    const resource = { name: uniqueName("three"), typePath: cloud.typePath, quantities: { [cloud.cores]: 1 } };
    made.push(await cloud.resources.createResource({ parentPath: other, resource }));
    for (const _ of made) await cloud.complete();
    instances = made.map(({ resourcePath }) => resourcePath);
  });

  const kind = ListResourcesRequest_Kind.RESOURCE;
  /** Reads all pages. Returns the resources, and how many pages there were. */
  const list = async (
    permission: string,
    fields: { pageSize?: number; context?: object; subjectPath?: string } = {},
  ) => {
    const paths: string[] = [];
    let [pages, pageToken] = [0, ""];
    do {
      const question = { subjectPath: alice, permission, parentPath: cloud.org, kind, pageToken, ...fields };
      const page = await access.listResources(question as Parameters<AccessClient["listResources"]>[0]);
      paths.push(...page.resourcePaths);
      pageToken = page.nextPageToken;
      pages++;
    } while (pageToken !== "");
    return { paths, pages };
  };
  const grant = async (parentPath: string, condition = "") => {
    const roleBinding = { name: uniqueName("binding"), subjectPath: alice, rolePath: "/roles/admin", condition };
    return (await api.roleBindings.createRoleBinding({ parentPath, roleBinding })).path;
  };
  const without = async (binding: string, run: () => Promise<void>) => {
    await run();
    await api.roleBindings.deleteRoleBinding({ path: binding });
  };

  test("nothing is listed without a grant, and all in a project with one on it, page by page", async () => {
    expect(await list(start)).toEqual({ paths: [], pages: 1 });
    await without(await grant(cloud.project), async () => {
      expect(await list(start)).toEqual({ paths: instances.slice(0, 2), pages: 1 });
      expect(await list(start, { pageSize: 1 })).toEqual({ paths: instances.slice(0, 2), pages: 3 });
      const projects = await access.listResources({ subjectPath: alice, permission: start, parentPath: cloud.org });
      expect(projects.resourcePaths).toEqual([cloud.project]);
    });
  });

  test.each([
    ['resource.labels.env == "dev"', [2]],
    ['resource.path.contains("/resources/one")', [0]],
    ['resource.labels.env == "dev" || resource.path.contains("/two")', [1, 2]],
    ["context.night", [0, 1, 2]],
    ['!has(resource.labels.env) && resource.path.contains("/resources/")', [0, 1]],
  ])("under the condition %s, as a check of each", async (condition, indexes) => {
    await without(await grant(cloud.org, condition), async () => {
      const context = { night: true };
      const expected = indexes.map((index) => required(instances[index]));
      expect((await list(start, { context })).paths).toEqual(expected);
      for (const resourcePath of instances) {
        const { allowed } = await access.checkAccess({ subjectPath: alice, permission: start, resourcePath, context });
        expect([resourcePath, allowed]).toEqual([resourcePath, expected.includes(resourcePath)]);
      }
    });
  });

  test("only those of the type that the permission is about, or of all types for one of this service", async () => {
    await without(await grant(cloud.org), async () => {
      expect((await list(start)).paths).toEqual(instances);
      expect((await list("resources.resources.get")).paths).toEqual(instances);
      expect((await list(`${cloud.service}.discs.start`)).paths).toEqual([]);
    });
  });

  test("not what is in a suspended or deleted project, unless the subject may activate it", async () => {
    const { path: project } = await api.projects.createProject({
      parentPath: cloud.org,
      project: { name: uniqueName("closing") },
    });
    const resource = { name: uniqueName("four"), typePath: cloud.typePath, quantities: { [cloud.cores]: 1 } };
    const { resourcePath } = await cloud.resources.createResource({ parentPath: project, resource });
    await cloud.complete();
    const rolePath = (
      await api.roles.createRole({ parentPath: cloud.org, role: { name: uniqueName("starter"), permissions: [start] } })
    ).path;
    const roleBinding = { name: uniqueName("binding"), subjectPath: alice, rolePath };
    const { path } = await api.roleBindings.createRoleBinding({ parentPath: project, roleBinding });
    expect((await list(start)).paths).toEqual([resourcePath]);
    await api.projects.suspendProject({ path: project });
    expect((await list(start)).paths).toEqual([]);
    await api.projects.activateProject({ path: project });
    expect((await list(start)).paths).toEqual([resourcePath]);
    await api.roleBindings.deleteRoleBinding({ path });
    await api.projects.deleteProject({ path: project, force: true });
    await without(await grant(cloud.org), async () => {
      expect((await list(start)).paths).toEqual(instances);
    });
  });

  test("in pages whose work is bounded, however few are found and whatever their conditions cost", async () => {
    const id = (await cloud.resources.getResource({ path: required(instances[0]) })).id;
    const name = uniqueName("copy");
    await sql.query(
      `insert into resources
       select (jsonb_populate_record(resources, jsonb_build_object('id', gen_random_uuid(), 'name', $2 || '-' || number))).*
       from resources, generate_series(1, 2100) as number where id = $1`,
      [id, name],
    );
    try {
      const wanted = [7, 1999].map((number) => `${cloud.project}/resources/${name}-${number}`);
      const ends = (number: number) => `resource.path.endsWith("-${number}")`;
      await without(await grant(cloud.org, `${ends(7)} || ${ends(1999)}`), async () => {
        const { paths, pages } = await list(start, { pageSize: 1000 });
        expect([paths.toSorted(), pages]).toEqual([wanted.toSorted(), 2]);
      });
      // Attributes of this length make each decision so expensive that a page has only some of them.
      const context = { text: "x".repeat(4000) };
      await without(await grant(cloud.project, `${ends(7)} || context.text.startsWith("y")`), async () => {
        const { paths, pages } = await list(start, { pageSize: 1000, context });
        expect(paths).toEqual([wanted[0]]);
        expect(pages).toBeGreaterThan(2);
        expect(pages).toBeLessThan(100);
      });
    } finally {
      await sql.query("delete from resources where name like $1 || '-%'", [name]);
    }
  });

  test("a page token is for the request and the kind for which it was issued", async () => {
    await without(await grant(cloud.org), async () => {
      const question = { subjectPath: alice, permission: start, parentPath: cloud.org, pageSize: 1 };
      const { nextPageToken: pageToken } = await access.listResources({ ...question, kind });
      for (const changed of [{}, { kind, permission: "resources.resources.get" }, { kind, context: { a: 1 } }]) {
        const failure = await failureOf(access.listResources({ ...question, pageToken, ...changed }));
        expect(failure).toMatchObject({ reason: "PAGE_TOKEN_INVALID" });
      }
    });
  });

  test("a kind of a later version is refused, and not taken for projects", async () => {
    const question = { subjectPath: alice, permission: start, parentPath: cloud.org, kind: 3 as typeof kind };
    expect(await failureOf(access.listResources(question))).toMatchObject({
      reason: "FIELD_INVALID",
      fields: ["kind"],
    });
  });
});
