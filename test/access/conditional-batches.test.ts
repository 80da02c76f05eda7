// A condition that leaves out a resource keeps it from batches, as it keeps it from single requests.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import { createMethodTable } from "../../src/rpc/method-table.ts";
import { services } from "../../src/rpc/services.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { createTransport } from "../support/transports.ts";
import { callMethod, eachOf } from "./every-call.ts";
import { type FurnishedOrg, furnishOrg } from "./furnish-org.ts";
import { type OrgCast, createOrgCast } from "./org-cast.ts";

const batches = [...createMethodTable(services)]
  .filter(([, { itemPatterns }]) => itemPatterns !== undefined)
  .map(([method, rules]) => ({ name: rules.name, method: method as DescMethodUnary, rules }));

let server: TestServer;
let second: TestServer;
let sql: SqlClient;
let cast: OrgCast;
let furnished: FurnishedOrg;
/** A supporter whose condition leaves out something else. */
let other: Supporter;
beforeAll(async () => {
  server = await startTestServer();
  second = await startTestServer({ databaseUrl: server.databaseUrl });
  sql = await openSqlClient(server.databaseUrl);
  cast = await createOrgCast("gRPC", server);
  furnished = await furnishOrg(cast.api, cast.org);
  other = await createSupporter(`resource.path != "${cast.org.path}/projects/other"`);
});
afterAll(async () => {
  await sql.close();
  await second.close();
  await server.close();
});

interface Supporter {
  readonly path: string;
  readonly key: string;
}

/** Creates a member of the org `system` who is an owner of the platform on a condition. */
async function createSupporter(condition: string): Promise<Supporter> {
  const { path } = await cast.api.members.createMember({
    parentPath: "/orgs/system",
    member: { name: uniqueName("supporter") },
  });
  await cast.grant("", path, "/roles/owner", { condition });
  const key = await cast.api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "key" } });
  return { path, key: required(key.secret) };
}

const parentOf = (path: string): string => path.split("/").slice(0, -2).join("/");

describe.concurrent.each(batches)("$name", ({ method, rules }) => {
  const items = () => required(rules.itemPatterns).flatMap((pattern) => furnished.names[pattern.join("/")] ?? []);

  /** Returns the code and the index in the error; undefined for a batch that may be carried out. */
  async function denialOf(key: string, path: string): Promise<string | undefined> {
    const parentPath = rules.target === undefined ? {} : { [rules.target.localName]: parentOf(path) };
    const validateOnly = rules.reads ? {} : { validateOnly: true };
    const call = callMethod(createTransport("gRPC", server.url, key), method, {
      ...parentPath,
      ...validateOnly,
      paths: [path],
    });
    const failure = await call.then(
      () => undefined,
      (error: unknown) => failureOf(Promise.reject(error)),
    );
    return failure?.reason === "PERMISSION_DENIED" ? `${failure.code} ${failure.metadata["index"]}` : undefined;
  }

  /** Reports whether a single request about a path would be allowed. Everybody may read the catalog, whose parts have no paths. */
  const maySingle = async (subject: string, path: string): Promise<boolean> =>
    rules.permission === undefined ? rules.typedPermission === undefined : cast.may(subject, rules.permission, path);

  test("is denied about what a condition leaves out, as a single request is", async () => {
    expect(items()).not.toEqual([]);
    await eachOf(items(), async (path) => {
      const without = await createSupporter(`resource.path != "${path}"`);
      const expected = (await maySingle(without.path, path)) ? undefined : "PermissionDenied 0";
      expect([path, await denialOf(without.key, path)]).toEqual([path, expected]);
      expect([path, await denialOf(other.key, path)]).toEqual([path, undefined]);
    });
  });
});

describe("a member with a role on a condition", () => {
  let name: string;
  let key: string;
  let api: Api;
  beforeAll(async () => {
    name = uniqueName("kept");
    const { path } = await cast.api.members.createMember({
      parentPath: cast.org.path,
      member: { name: uniqueName("mostly") },
    });
    key = required((await cast.api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "key" } })).secret);
    await cast.grant(cast.org.path, path, "/roles/admin", {
      condition: `!("keep" in resource.labels) && !resource.path.endsWith("/${name}")`,
    });
    api = createApi("gRPC", server.url, key);
  });

  const createProject = (project: object): Promise<{ path: string }> =>
    cast.api.projects.createProject({ parentPath: cast.org.path, project: { name: uniqueName("web"), ...project } });
  const deleteAll = (...paths: string[]) => api.projects.batchDeleteProjects({ parentPath: cast.org.path, paths });

  test("deletes nothing with a batch that names what the labels of the condition leave out", async () => {
    const [plain, labelled] = [await createProject({}), await createProject({ labels: { keep: "yes" } })];
    expect(await failureOf(deleteAll(plain.path, labelled.path))).toMatchObject({
      code: "PermissionDenied",
      metadata: { permission: "iam.projects.delete", index: "1" },
    });
    expect(await cast.api.projects.getProject({ path: plain.path })).toMatchObject({ state: 1 });
    await deleteAll(plain.path);
  });

  test("reads and deletes no member that the condition leaves out, by name or by id", async () => {
    const parentPath = cast.org.path;
    const member = await cast.api.members.createMember({ parentPath, member: { name } });
    const denied = { code: "PermissionDenied", metadata: { index: "0" } };
    for (const path of [member.path, `${parentPath}/members/@${member.id}`]) {
      const paths = [path];
      expect(await failureOf(api.members.batchGetMembers({ parentPath, paths }))).toMatchObject(denied);
      expect(await failureOf(api.members.batchDeleteMembers({ parentPath, paths }))).toMatchObject(denied);
    }
  });

  test("may name in a batch what another binding gives, as on a project", async () => {
    const { path } = await createProject({ labels: { keep: "yes" } });
    const subject = await cast.member(uniqueName("both"));
    await cast.grant(cast.org.path, subject.path, "/roles/admin", { condition: '!("keep" in resource.labels)' });
    const batch = () => subject.api.projects.batchGetProjects({ parentPath: cast.org.path, paths: [path] });
    expect(await failureOf(batch())).toMatchObject({ code: "PermissionDenied" });
    await cast.grant(path, subject.path, "/roles/viewer");
    expect((await batch()).projects).toHaveLength(1);
  });

  test("is told which paths are invalid, and about paths in other orgs no more than that they are", async () => {
    const paths = [`${cast.org.path}/members/A`, `${cast.org.path}/projects/web`];
    expect(await failureOf(api.members.batchGetMembers({ parentPath: cast.org.path, paths }))).toMatchObject({
      reason: "FIELD_INVALID",
      fields: ["paths[0]", "paths[1]"],
    });
    const [there, nowhere] = await Promise.all(
      ["/orgs/system/members/operator", "/orgs/system/members/nobody"].map(async (path) =>
        failureOf(api.members.batchGetMembers({ parentPath: cast.org.path, paths: [path] })),
      ),
    );
    expect(there).toMatchObject({ reason: "FIELD_INVALID", fields: ["paths[0]"] });
    expect({ ...there, requestId: "" }).toEqual({ ...nowhere, requestId: "" });
  });

  describe("deletes no project", () => {
    const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    const condition = '!("keep" in resource.labels)';

    /** Starts a batch that waits for a change of its org, which waits for a lock. Returns the error of the batch. */
    async function deleteAfter(change: () => Promise<unknown>, batchKey: string, path: string): Promise<unknown> {
      await sql.query("begin");
      try {
        await sql.query("select from orgs where id = $1 for update", [cast.org.id]);
        const changed = change();
        await expect.poll(() => sql.query(waiting)).toHaveLength(1);
        const there = createApi("gRPC", second.url, batchKey);
        const batch = failureOf(there.projects.batchDeleteProjects({ parentPath: cast.org.path, paths: [path] }));
        await expect.poll(() => sql.query(waiting)).toHaveLength(2);
        await sql.query("commit");
        await changed;
        return await batch;
      } finally {
        // What follows does not wait for the lock of a test that has failed.
        await sql.query("rollback");
      }
    }

    const denied = { code: "PermissionDenied", metadata: { permission: "iam.projects.delete" } };

    test("that gets what the condition leaves out while the batch waits", async () => {
      const { path } = await createProject({});
      const label = () => cast.api.projects.updateProject({ path, project: { labels: { keep: "yes" } } });
      expect(await deleteAfter(label, key, path)).toMatchObject(denied);
    });

    test("that the condition leaves out, which the role binding gets while the batch waits", async () => {
      const { path } = await createProject({ labels: { keep: "yes" } });
      const subject = await cast.api.members.createMember({
        parentPath: cast.org.path,
        member: { name: uniqueName("until") },
      });
      const made = await cast.api.apiKeys.createApiKey({ parentPath: subject.path, apiKey: { name: "key" } });
      const binding = await cast.grant(cast.org.path, subject.path, "/roles/admin");
      const limit = () => cast.api.roleBindings.updateRoleBinding({ path: binding, roleBinding: { condition } });
      expect(await deleteAfter(limit, required(made.secret), path)).toMatchObject(denied);
    });
  });
});

test("a suspended project is in no batch of a member who may not activate it, as in no single request", async () => {
  const { path } = await cast.api.projects.createProject({
    parentPath: cast.org.path,
    project: { name: uniqueName("suspended") },
  });
  const deleter = await cast.member(uniqueName("deleter"));
  const role = await cast.role(uniqueName("deleter"), "iam.projects.get", "iam.projects.delete");
  await cast.grant(cast.org.path, deleter.path, role);
  await cast.api.projects.suspendProject({ path });
  const batch = { parentPath: cast.org.path, paths: [path] };
  const { projects } = deleter.api;
  expect(await failureOf(projects.deleteProject({ path }))).toMatchObject({ code: "PermissionDenied" });
  expect(await failureOf(projects.batchDeleteProjects(batch))).toMatchObject({
    code: "PermissionDenied",
    metadata: { index: "0" },
  });
  expect((await projects.batchGetProjects(batch)).projects).toMatchObject([{ path }]);
});

test("a condition on customers counts for none of them through `-`", async () => {
  const { customerPath } = cast.org;
  const binding = await cast.grant(customerPath, (await cast.member(uniqueName("bound"))).path, "/roles/viewer");
  const { key } = await createSupporter(`!resource.path.startsWith("${customerPath}")`);
  const { roleBindings } = createApi("gRPC", server.url, key);
  const { id } = await cast.api.roleBindings.getRoleBinding({ path: binding });
  const denied = { code: "PermissionDenied" };
  expect(await failureOf(roleBindings.getRoleBinding({ path: binding }))).toMatchObject(denied);
  expect(await failureOf(roleBindings.getRoleBinding({ path: `/customers/-/roleBindings/@${id}` }))).toMatchObject(
    denied,
  );
  const everywhere = { parentPath: "/customers/-", paths: [binding] };
  expect(await failureOf(roleBindings.batchGetRoleBindings(everywhere))).toMatchObject(denied);
  expect(await failureOf(roleBindings.listRoleBindings({ parentPath: "/customers/-" }))).toMatchObject(denied);
});
