// Runs the version before, at the commit that `version-before` names, beside this one on one database: an upgrade replaces servers one
// after the other, and may be taken back.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { Change_Type } from "../../gen/iam/v1alpha/change_pb.ts";
import { required } from "../../src/errors/required.ts";
import { migrations } from "../../src/database/migrations/all.ts";
import { type Api, createApi } from "../support/api.ts";
import { type Served, serveTenantry } from "../support/command.ts";
import { expectNoDrift } from "../support/expect-no-drift.ts";
import { failureOf } from "../support/failure.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { commitBefore, extractVersionBefore, hasVersionBefore } from "../support/version-before.ts";

const root = join(import.meta.dirname, "../..");

if (!hasVersionBefore)
  console.warn(`The tests with the version before are skipped: there is no commit ${commitBefore} here.`);

// CI has the commit.
const where = hasVersionBefore ? "" : `, whose commit ${commitBefore} is not here`;
describe.skipIf(!hasVersionBefore)(`the version before${where}`, () => {
  let tree: string;
  beforeAll(async () => {
    tree = await mkdtemp(join(tmpdir(), "tenantry-before-"));
    extractVersionBefore(tree);
  });
  afterAll(() => rm(tree, { recursive: true, force: true }));

  /** Returns functions that start servers of both versions on one database, which is empty at first. */
  async function prepare(): Promise<Prepared> {
    const { url, drop } = await createTestDatabase({ empty: true });
    const directory = await mkdtemp(join(tmpdir(), "tenantry-upgrade-"));
    onTestFinished(async () => {
      await rm(directory, { recursive: true, force: true });
      await drop();
    });
    const secretKeys = join(directory, "secret-keys");
    await writeFile(secretKeys, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    const start = async (name: string, from: string): Promise<Server> => {
      const data = join(directory, name);
      await mkdir(data, { recursive: true });
      const env = {
        DATABASE_URL: url,
        TENANTRY_DATA: data,
        TENANTRY_SECRET_KEYS_FILE: secretKeys,
        TENANTRY_ISSUER: "https://iam.example.com",
      };
      const served = await serveTenantry({ tree: from, cwd: directory, env });
      const stop = async (): Promise<void> => expect(await served.signal("SIGTERM")).toBe(0);
      onTestFinished(async () => void (await served.signal("SIGKILL")));
      // Of the server that was the first on the database.
      const keyFile = ["before", "this"].map((each) => join(directory, each, "operator-key")).find(existsSync) ?? "";
      return { served, api: createApi("REST", served.url, readFileSync(keyFile, "utf8").trim()), stop };
    };
    return { url, startBefore: () => start("before", tree), startThis: () => start("this", root) };
  }

  interface Prepared {
    /** Of the database. */
    readonly url: string;
    readonly startBefore: () => Promise<Server>;
    readonly startThis: () => Promise<Server>;
  }

  interface Server {
    readonly served: Served;
    readonly api: Api;
    stop(): Promise<void>;
  }

  /** Writes rows of several resources with one server, and reads and changes them with another. */
  async function exercise(writer: Api, reader: Api, name: string): Promise<void> {
    const { path: parentPath } = await writer.orgs.createOrg({ org: { name } });
    const { path: memberPath } = await writer.members.createMember({ parentPath, member: { name: "alice" } });
    const group = await writer.groups.createGroup({ parentPath, group: { name: "team" } });
    await writer.groupMembers.createGroupMember({ parentPath: group.path, groupMember: { memberPath } });
    const project = await writer.projects.createProject({ parentPath, project: { name: "web" } });
    const binding = { rolePath: "/roles/viewer", subjectPath: group.path };
    await writer.roleBindings.createRoleBinding({
      parentPath: project.path,
      roleBinding: { name: "view", ...binding },
    });
    expect((await reader.groups.getGroup({ path: group.path })).etag).toBe(group.etag);
    const { members } = await reader.groupMembers.listGroupMembers({ parentPath: group.path });
    expect(members.map((each) => each.memberPath)).toEqual([memberPath]);
    const { path, etag } = project;
    const changed = await reader.projects.updateProject({ path, project: { displayName: "Web", etag } });
    expect(await writer.projects.getProject({ path: project.path })).toEqual(changed);
    const check = { subjectPath: memberPath, permission: "iam.projects.get", resourcePath: path };
    const checked = async (): Promise<boolean[]> => {
      const answers = [writer, reader].map((api) => createClient(AccessService, api.transport).checkAccess(check));
      return (await Promise.all(answers)).map(({ allowed }) => allowed);
    };
    expect(await checked()).toEqual([true, true]);
    await reader.groupMembers.deleteGroupMember({ path: members[0]?.path ?? "" });
    expect(await checked()).toEqual([false, false]);
    await writer.members.createMember({ parentPath, member: { name: "bob" } });
    await writer.apiKeys.createApiKey({ parentPath: memberPath, apiKey: { name: "kept" } });
    const ended = await writer.apiKeys.createApiKey({ parentPath: memberPath, apiKey: { name: "ended" } });
    await reader.apiKeys.deleteApiKey({ path: ended.path });
    await reader.orgs.updateOrg({ path: parentPath, org: { name: `${name}-renamed` } });
    await writer.orgs.updateOrg({ path: `${parentPath}-renamed`, org: { name } });
    const first = await writer.members.listMembers({ parentPath, pageSize: 1 });
    const { nextPageToken: pageToken } = first;
    const rest = await reader.members.listMembers({ parentPath, pageSize: 1, pageToken });
    expect([first, rest].flatMap((page) => page.members.map((each) => each.name)).toSorted()).toEqual(["alice", "bob"]);
  }

  /** What either changes of a customer is seen by both at once, and is in one log. */
  async function changeCustomerInTurns(before: Api, next: Api): Promise<void> {
    const { customerPath, path } = await before.orgs.createOrg({ org: { name: "mixed" } });
    const { id } = await next.customers.getCustomer({ path: customerPath });
    for (const [index, name] of ["first", "second", "third", "fourth"].entries()) {
      const writer = index % 2 === 0 ? next : before;
      await writer.customers.updateCustomer({ path: `customers/@${id}`, customer: { name } });
      for (const reader of [before, next]) {
        expect((await reader.orgs.getOrg({ path })).customerPath).toBe(`/customers/${name}`);
        expect((await reader.customers.getCustomer({ path: `customers/@${id}` })).name).toBe(name);
      }
    }
    for (const reader of [before, next]) {
      const { changes } = await reader.changes.listChanges({ parentPath: `customers/@${id}`, orderBy: "time" });
      const ofCustomer = changes.filter(({ resourceType }) => resourceType === "Customer");
      const { CREATED, UPDATED } = Change_Type;
      expect(ofCustomer.map(({ type }) => type)).toEqual([CREATED, UPDATED, UPDATED, UPDATED, UPDATED]);
      expect(ofCustomer.map(({ customerPath: log }) => log)).toEqual(ofCustomer.map(() => "/customers/fourth"));
    }
  }

  /** Of updates by both with one etag, one is made. */
  async function changeCustomerAtOnce(before: Api, next: Api): Promise<void> {
    const { customerPath: path } = await next.orgs.createOrg({ org: { name: "raced" } });
    for (let round = 0; round < 5; round++) {
      const { etag } = await next.customers.getCustomer({ path });
      const update = (api: Api, displayName: string) =>
        api.customers.updateCustomer({ path, customer: { displayName, etag } }).then(
          () => "made",
          async (error: unknown) => required((await failureOf(Promise.reject(error))).reason),
        );
      const made = await Promise.all([update(before, `one ${round}`), update(next, `other ${round}`)]);
      expect(made.toSorted()).toEqual(["ETAG_STALE", "made"]);
    }
  }

  test("serves beside this one while that migrates its database, and comes back afterwards", async () => {
    const { url, startBefore, startThis } = await prepare();
    const before = await startBefore();
    await before.api.orgs.createOrg({ org: { name: "early" } });
    const next = await startThis();
    expect(next.served.output.stdout).toContain("migrated the database");
    expect((await next.api.orgs.getOrg({ path: "orgs/early" })).name).toBe("early");
    await exercise(before.api, next.api, "from-before");
    await exercise(next.api, before.api, "from-next");

    await before.stop();
    const again = await startBefore();
    await exercise(again.api, next.api, "from-again");
    // The upgrade is taken back.
    await next.stop();
    await exercise(again.api, again.api, "without-next");
    await again.stop();
    await expectNoDrift(url);
  });

  test("changes customers as this one does, and of what both change at once, one is made", async () => {
    const { startBefore, startThis } = await prepare();
    const before = await startBefore();
    const next = await startThis();
    await changeCustomerInTurns(before.api, next.api);
    await changeCustomerAtOnce(before.api, next.api);
    await Promise.all([before.stop(), next.stop()]);
  });

  test("starts on a database that this version has made", async () => {
    const { startBefore, startThis } = await prepare();
    const next = await startThis();
    const before = await startBefore();
    await exercise(before.api, next.api, "from-before");
    await Promise.all([before.stop(), next.stop()]);
  });

  test("knows what the newer migrations require", () => {
    const directory = join(tree, "src/database/migrations");
    const text = readdirSync(directory)
      .map((file) => readFileSync(join(directory, file), "utf8"))
      .join("");
    const known = new Set([...text.matchAll(/"(\d{4}-[a-z-]+)"/g)].map(([, name = ""]) => name));
    const newer = Object.entries(migrations).filter(([name]) => !known.has(name));
    expect(newer.filter(([, { requires }]) => requires !== undefined && !known.has(requires))).toEqual([]);
  });
});
