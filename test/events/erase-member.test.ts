// Tests the erasure of a person: what may be erased, by whom, and that nothing of it is left in the database.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { toJson } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ChangeSchema, Change_Type, Change_View } from "../../gen/iam/v1alpha/change_pb.ts";
import { Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { OrgFilesService } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { verifyFile } from "../../src/cli/verify-file.ts";
import { type Caller, type Company, openCompany } from "../access/callers.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type CopyOfOrg, applyTo, comparable } from "../support/copy-of-org.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { createTransport } from "../support/transports.ts";
import { type Watch, isSynced, watchLog } from "../support/watch-log.ts";

let server: TestServer;
let sql: SqlClient;
let company: Company;
let owner: Caller;
let parentPath: string;
beforeAll(async () => {
  server = await startTestServer({ purgeIntervalMs: 100 });
  sql = await openSqlClient(server.databaseUrl);
  company = await openCompany("gRPC", server);
  owner = await company.joinAs("owner");
  parentPath = company.org.path;
});
afterAll(async () => {
  await sql.close();
  await server.close();
});

/** Returns the tables in which one of the words is, as text or in bytes. */
async function tablesWith(words: readonly string[]): Promise<string[]> {
  const texts = words.flatMap((word) => [word, Buffer.from(word).toString("hex")]);
  const tables = new Set<string>();
  for (const text of texts) for (const table of await sql.tablesWith(text)) tables.add(table);
  return [...tables].toSorted();
}

/** Deletes and purges a member, and waits until it is removed. Returns its path. */
async function purge({ path, id }: { path: string; id: string }, orgPath = parentPath): Promise<string> {
  const { members } = company.api;
  await members.deleteMember({ path });
  const byId = `${orgPath}/members/@${id}`;
  await members.purgeMember({ path: byId });
  const reason = async () => (await failureOf(members.getMember({ path: byId }))).reason;
  await expect.poll(() => reason().catch(() => "found")).toBe("RESOURCE_NOT_FOUND");
  return byId;
}

const headers = {
  "User-Agent": "liddell-browser",
  "X-Request-Reason": "liddell-reason",
  "X-On-Behalf-Of": "liddell-friend",
};

/** What a person leaves behind who has called with a key, in two orgs, and acted as an application. */
async function leaveTraces(): Promise<{ path: string; id: string; otherPath: string }> {
  const member = await owner.members.createMember({
    parentPath,
    member: { name: "liddell", displayName: "Alice liddell", labels: { team: "liddell" }, description: "liddell" },
    requestId: crypto.randomUUID(),
  });
  const { path } = member;
  const allowedAddresses = ["198.51.100.0/24", "127.0.0.0/8", "::1/128"];
  await owner.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "liddell-key", allowedAddresses } });
  const { secret } = await owner.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "liddell-calls" } });
  await company.bind(parentPath, "owner", member);
  await owner.groups.createGroup({ parentPath, group: { name: "devs" } });
  const groupMember = { memberPath: path };
  await owner.groupMembers.createGroupMember({ parentPath: `${parentPath}/groups/devs`, groupMember });
  const { customerPath } = company.org;
  const other = await company.api.orgs.createOrg({ org: { name: uniqueName("other"), customerPath } });
  await company.bind(customerPath, "owner", member);
  const app = await owner.members.createMember({ parentPath, member: { name: "app", type: Member_Type.APPLICATION } });
  await company.bind(parentPath, "owner", app);

  const theirs = createApi("gRPC", server.url, secret);
  await theirs.groups.createGroup({ parentPath, group: { name: "one" }, requestId: crypto.randomUUID() }, { headers });
  await theirs.groups.createGroup({ parentPath: other.path, group: { name: "two" } }, { headers });
  const { accessToken } = await theirs.members.impersonateMember({ path: app.path }, { headers });
  await createApi("gRPC", server.url, accessToken).groups.createGroup(
    { parentPath, group: { name: "three" } },
    { headers },
  );
  await theirs.changes.listChanges({ parentPath }, { headers });
  await theirs.customers.updateCustomer({ path: customerPath, customer: { labels: { by: "owner" } } }, { headers });
  return { path, id: member.id, otherPath: other.path };
}

async function exportLog({ changes }: Pick<Api, "changes">, path: string): Promise<string[]> {
  const request = { parentPath: path, orderBy: "time", view: Change_View.PROVED, pageSize: 1000 };
  return (await changes.listChanges(request)).changes.map((change) =>
    JSON.stringify(toJson(ChangeSchema, change, { useProtoFieldName: true })),
  );
}

test("a purged member is erased from all logs: nothing of it is left, and exports of before and after verify", async () => {
  const folder = await mkdtemp(join(tmpdir(), "erased-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const verify = async (lines: readonly string[]) => {
    const printed: string[] = [];
    const file = join(folder, "changes.ndjson");
    await writeFile(file, lines.map((line) => `${line}\n`).join(""));
    const program = join(import.meta.dirname, "../../examples/log/verify.py");
    const run = promisify(execFile)("python3", [program, file]);
    const { stdout } = await run.catch((error: unknown) => error as { stdout: string });
    const { entries, faults } = await verifyFile(file, {}, (line) => printed.push(line));
    expect(stdout).toContain(`${entries} entries, ${faults} faults`);
    return { faults, printed };
  };
  const member = await leaveTraces();
  const path = await purge(member);
  const words = ["liddell", "198.51.100.0"];
  expect(await tablesWith(words)).toEqual(["changes", "write_requests"]);
  const before = await exportLog(owner, parentPath);
  expect(await verify(before)).toMatchObject({ faults: 0 });

  const { changeCount } = await owner.members.eraseMember({ path, validateOnly: true });
  expect(changeCount).toBeGreaterThan(10);
  expect(await tablesWith(words)).toContain("changes");
  expect(await owner.members.eraseMember({ path })).toMatchObject({ changeCount });
  expect(await tablesWith(words)).toEqual([]);

  const after = await exportLog(owner, parentPath);
  const { faults, printed } = await verify(after);
  expect([printed, faults]).toEqual([expect.anything(), 0]);
  expect(printed.join("\n")).toMatch(/\d+ changes of which something was erased/);
  expect(after.length).toBe(before.length + 1);
  const hashes = (lines: readonly string[]) =>
    lines.map((line) => (JSON.parse(line) as { proof: { hash: string } }).proof.hash);
  expect(hashes(after).slice(0, before.length)).toEqual(hashes(before));
  expect(await verify(await exportLog(company.api, member.otherPath))).toMatchObject({
    faults: 0,
    printed: expect.arrayContaining(["1 change of which something was erased"]),
  });
  // A value in the place of one that was erased is found.
  const index = after.findIndex((line) => line.includes('"erased_fields"'));
  const forged = { ...(JSON.parse(after[index] ?? "{}") as object), resource_path: "/orgs/acme/members/mallory" };
  expect(await verify(after.with(index, JSON.stringify(forged)))).toMatchObject({ faults: 1 });

  const { changes } = await owner.changes.listChanges({ parentPath, filter: "type = ERASED" });
  expect(changes).toMatchObject([
    {
      type: Change_Type.ERASED,
      resourcePath: `${parentPath}/members/@${member.id}`,
      resourceId: member.id,
      actorPath: owner.path,
      method: "iam.v1alpha.MembersService/EraseMember",
    },
  ]);
  expect(await owner.members.eraseMember({ path })).toMatchObject({ changeCount: 0 });
  expect((await owner.changes.listChanges({ parentPath, filter: "type = ERASED" })).changes).toHaveLength(1);
});

test("a rollback to before names who was erased by the id alone, and makes nothing", async () => {
  const other = await openCompany("gRPC", server);
  const chief = await other.joinAs("owner");
  const { path } = other.org;
  const member = await chief.members.createMember({ parentPath: path, member: { name: "tabby" } });
  await other.bind(path, "viewer", member);
  const { revision } = await chief.members.listMembers({ parentPath: path });
  await chief.members.eraseMember({ path: await purge(member, path) });
  const files = createClient(OrgFilesService, createTransport("gRPC", server.url, chief.key));
  const { obstacles } = await files.rollbackOrg({ path, revision, validateOnly: true });
  expect(obstacles).toEqual([`members/@${member.id} was purged since, and cannot be made again`]);
  expect(await failureOf(files.rollbackOrg({ path, revision }))).toMatchObject({ reason: "STATE_FORBIDS" });
});

test("a copy loses a member that was purged and erased while nobody followed", async () => {
  const watch = watchLog(owner, { parentPath, initialState: true });
  const member = await owner.members.createMember({ parentPath, member: { name: "dinah" } });
  await owner.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "key" } });
  await company.bind(parentPath, "viewer", member);
  const last = await owner.groups.createGroup({ parentPath, group: { name: "before-dinah-left" } });
  await watch.until(({ resumeRevision }) => resumeRevision === last.etag);
  watch.close();
  await owner.members.eraseMember({ path: await purge(member) });
  const rest = watchLog(owner, { parentPath, afterRevision: last.etag });
  await rest.until(isSynced);
  rest.close();
  const now = watchLog(owner, { parentPath, initialState: true });
  await now.until(isSynced);
  now.close();
  const copyOf = (messages: Watch["received"]): CopyOfOrg => {
    const copy: CopyOfOrg = new Map();
    for (const message of messages) applyTo(copy, message);
    return copy;
  };
  const keyPath = `/orgs/@${company.org.id}/members/@${member.id}`;
  expect([...copyOf(watch.received).keys()]).toContain(keyPath);
  expect(comparable(copyOf([...watch.received, ...rest.received]))).toEqual(comparable(copyOf(now.received)));
});

test("a member is erased from the log of a customer that was purged", async () => {
  const { api } = company;
  const theirs = await company.join("hatter", "orgs/system");
  const { path: memberPath, id } = await api.members.getMember({ path: theirs.path });
  await company.bind("", "owner", theirs);
  const { customerPath } = await api.orgs.createOrg({ org: { name: uniqueName("brief") } });
  const { id: customerId } = await api.customers.getCustomer({ path: customerPath });
  await theirs.customers.updateCustomer(
    { path: customerPath, customer: { displayName: "Brief" } },
    { headers: { "User-Agent": "hatter-browser" } },
  );
  const { customers } = api;
  const { path } = await customers.deleteCustomer({ path: customerPath });
  await customers.purgeCustomer({ path });
  const reason = async () => (await failureOf(customers.getCustomer({ path: `customers/@${customerId}` }))).reason;
  await expect.poll(() => reason().catch(() => "found")).toBe("RESOURCE_NOT_FOUND");
  expect(await tablesWith(["hatter-browser"])).toEqual(["changes"]);
  await api.members.eraseMember({ path: await purge({ path: memberPath, id }, "/orgs/system") });
  expect(await tablesWith(["hatter-browser"])).toEqual([]);
});

test("a member that exists, has no id in the path, or never was, is not erased", async () => {
  const { path, id } = await owner.members.createMember({ parentPath, member: { name: "carol" } });
  const fail = (request: { path: string }) => failureOf(owner.members.eraseMember(request));
  const exists = { reason: "STATE_FORBIDS", message: expect.stringContaining("delete and purge it first") };
  expect(await fail({ path })).toMatchObject(exists);
  expect(await fail({ path: `${parentPath}/members/@${id}` })).toMatchObject(exists);
  await owner.members.deleteMember({ path });
  expect(await fail({ path: `${parentPath}/members/@${id}` })).toMatchObject({
    reason: "STATE_FORBIDS",
    message: expect.stringContaining("is DELETED: purge it first"),
  });
  expect(await fail({ path })).toMatchObject({
    reason: "FIELD_INVALID",
    message: expect.stringContaining("by its id"),
  });
  expect(await fail({ path: `${parentPath}/members/@${crypto.randomUUID()}` })).toMatchObject({
    reason: "RESOURCE_NOT_FOUND",
  });
});

test("only owners may erase", async () => {
  const byId = `${parentPath}/members/@${crypto.randomUUID()}`;
  for (const role of ["admin", "members-admin"]) {
    const caller = await company.joinAs(role, uniqueName(role));
    expect(await failureOf(caller.members.eraseMember({ path: byId }))).toMatchObject({
      reason: "PERMISSION_DENIED",
      metadata: { permission: "iam.members.erase" },
    });
  }
});

test("a member with more changes than one transaction erases is erased whole, with one entry that says so", async () => {
  const member = await owner.members.createMember({ parentPath, member: { name: "dodgson" } });
  const { secret } = await owner.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "key" } });
  await company.bind(parentPath, "owner", member);
  const requests = Array.from({ length: 210 }, (_, index) => ({ group: { name: `dodgson-made-${index}` } }));
  await createApi("gRPC", server.url, secret).groups.batchCreateGroups(
    { parentPath, requests },
    { headers: { "User-Agent": "dodgson-browser" } },
  );
  const path = await purge(member);
  const { changeCount } = await owner.members.eraseMember({ path });
  expect(changeCount).toBeGreaterThan(210);
  expect(await tablesWith(["dodgson-browser", "/members/dodgson"])).toEqual([]);
  const filter = `type = ERASED AND resource_id = "${member.id}"`;
  expect((await owner.changes.listChanges({ parentPath, filter })).changes).toHaveLength(1);
});
