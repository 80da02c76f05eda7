// What each kind of write, and a read, sends to the database, in readable files: test/standard-methods/traces. A line is a statement, with the number of
// its round trip; those without a number are sent together with the one above. The entries of the change log follow.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type CallOptions, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { AccessRequestsService } from "../../gen/iam/v1alpha/access_request_pb.ts";
import { ResourcesService } from "../../gen/resources/v1alpha/resource_pb.ts";
import { Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { type Api, createApi } from "../support/api.ts";
import { type ProvidedType, createProvidedType } from "../support/provided-type.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { countEntries, describeEntries, traceCalls } from "../support/trace-writes.ts";

const org = "acme";
const parentPath = `/orgs/${org}`;

let server: TestServer;
let client: SqlClient;
/** An owner of the org. */
let ann: Api;
/** A member of another org, who holds everything. */
let operator: Api;
let provided: ProvidedType;
beforeAll(async () => {
  server = await startTestServer();
  client = await openSqlClient(server.databaseUrl);
  operator = createApi("Connect", server.url, server.operatorKey);
  provided = await createProvidedType(operator);
  await operator.orgs.createOrg({ org: { name: org } });
  const { path } = await operator.members.createMember({
    parentPath,
    member: { name: "ann", type: Member_Type.APPLICATION },
  });
  await operator.roleBindings.createRoleBinding({
    parentPath,
    roleBinding: { name: "ann", subjectPath: path, rolePath: "/roles/owner" },
  });
  const { secret } = await operator.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "ci" } });
  ann = createApi("Connect", server.url, secret);
});
afterAll(async () => {
  await client.close();
  await server.close();
});

type Write = (options?: CallOptions) => Promise<unknown>;

let serial = 0;
const newName = (start: string): string => `${start}-${++serial}`;

/** Returns what writes send, and the entries that they log. Names with numbers and ids are replaced. */
async function trace(run: (options: CallOptions) => Promise<unknown>): Promise<string> {
  const before = await countEntries(client, org);
  const { headers, end } = traceCalls(newName("traced"));
  // The caller of a call whose body takes a second is authenticated again, also on a machine that is too busy to read it sooner.
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
  await run({ headers }).finally(() => clock.mockRestore());
  const statements = end();
  const entries = await describeEntries(client, org, before);
  const lines = [...statements, "", "log", ...entries.map((entry) => `    ${entry}`)];
  return `${lines.join("\n").replaceAll(/@[0-9a-f-]{36}|(?<=access-request-)[0-9a-f]{32}/g, "@id")}\n`.replaceAll(
    /-\d+\b/g,
    "",
  );
}

/** What is written, after its like has been written twice: statements are prepared then, and snapshots in memory. */
const kinds: Readonly<Record<string, () => Promise<Write>>> = {
  "create-member": () => {
    const member = { name: newName("bob"), labels: { team: "storage" } };
    return Promise.resolve((options) => ann.members.createMember({ parentPath, member }, options));
  },
  "create-members": () => {
    const requests = ["bob", "carol", "dave"].map((start) => ({ member: { name: newName(start) } }));
    return Promise.resolve((options) => ann.members.batchCreateMembers({ parentPath, requests }, options));
  },
  "create-group": () => {
    const group = { name: newName("ops") };
    return Promise.resolve((options) => ann.groups.createGroup({ parentPath, group }, options));
  },
  "create-project": () => {
    const project = { name: newName("web") };
    return Promise.resolve((options) => ann.projects.createProject({ parentPath, project }, options));
  },
  "create-membership": async () => {
    const { group, member } = await createSome();
    return (options) =>
      ann.groupMembers.createGroupMember({ parentPath: group, groupMember: { memberPath: member } }, options);
  },
  "create-role-binding": async () => {
    const { member, project } = await createSome();
    const roleBinding = { name: newName("viewer"), subjectPath: member, rolePath: "/roles/viewer" };
    return (options) => ann.roleBindings.createRoleBinding({ parentPath: project, roleBinding }, options);
  },
  "create-member-from-another-org": () => {
    const member = { name: newName("bob") };
    return Promise.resolve((options) => operator.members.createMember({ parentPath, member }, options));
  },
  "create-membership-from-another-org": async () => {
    const { group, member } = await createSome();
    const groupMember = { memberPath: member };
    return (options) => operator.groupMembers.createGroupMember({ parentPath: group, groupMember }, options);
  },
  "create-role-binding-from-another-org": async () => {
    const { member, project } = await createSome();
    const roleBinding = { name: newName("viewer"), subjectPath: member, rolePath: "/roles/viewer" };
    return (options) => operator.roleBindings.createRoleBinding({ parentPath: project, roleBinding }, options);
  },
  // A read: the head of the org, and whether the org approves what the platform does, come with the key.
  "get-member-from-another-org": async () => {
    const { member } = await createSome();
    for (let time = 0; time < 2; time++) await operator.members.getMember({ path: member });
    return (options) => operator.members.getMember({ path: member }, options);
  },
  // Whatever the org has: what the author holds is in memory.
  "begin-access-in-an-emergency": () => {
    const requests = createClient(AccessRequestsService, ann.transport);
    const expireTime = timestampFromDate(new Date(Date.now() + 3_600_000));
    const asked = { rolePath: "/roles/viewer", resourcePath: parentPath, reason: "All is down", expireTime };
    const accessRequest = { ...asked, breakGlass: true };
    return Promise.resolve((options) => requests.createAccessRequest({ parentPath, accessRequest }, options));
  },
  "create-resource": async () => {
    const { project } = await createSome();
    const resource = { name: newName("vm"), typePath: provided.typePath };
    const resources = createClient(ResourcesService, ann.transport);
    return (options) => resources.createResource({ parentPath: project, resource }, options);
  },
  "update-group": async () => {
    const { group } = await createSome();
    return (options) => ann.groups.updateGroup({ path: group, group: { description: "on call" } }, options);
  },
  "delete-group": async () => {
    const { group } = await createSome();
    return (options) => ann.groups.deleteGroup({ path: group }, options);
  },
  "delete-member": async () => {
    const { member } = await createSome();
    return (options) => ann.members.deleteMember({ path: member }, options);
  },
  "delete-role-binding": async () => {
    const { member, project } = await createSome();
    const roleBinding = { name: newName("viewer"), subjectPath: member, rolePath: "/roles/viewer" };
    const { path } = await ann.roleBindings.createRoleBinding({ parentPath: project, roleBinding });
    return (options) => ann.roleBindings.deleteRoleBinding({ path }, options);
  },
  "suspend-project": async () => {
    const { project } = await createSome();
    return (options) => ann.projects.suspendProject({ path: project }, options);
  },
  "undelete-member": async () => {
    const { member } = await createSome();
    const { path } = await ann.members.deleteMember({ path: member });
    return (options) => ann.members.undeleteMember({ path }, options);
  },
  "validate-membership": async () => {
    const { group, member } = await createSome();
    const groupMember = { memberPath: member };
    return (options) =>
      ann.groupMembers.createGroupMember({ parentPath: group, groupMember, validateOnly: true }, options);
  },
  "validate-member": () => {
    const member = { name: newName("bob") };
    return Promise.resolve((options) => ann.members.createMember({ parentPath, member, validateOnly: true }, options));
  },
  "request-id": () => {
    const request = { parentPath, member: { name: newName("bob") }, requestId: crypto.randomUUID() };
    return Promise.resolve((options) => ann.members.createMember(request, options));
  },
  "repeated-request-id": async () => {
    const request = { parentPath, member: { name: newName("bob") }, requestId: crypto.randomUUID() };
    await ann.members.createMember(request);
    return (options) => ann.members.createMember(request, options);
  },
};

/** Returns the paths of a new group, member and project. */
async function createSome() {
  const group = await ann.groups.createGroup({ parentPath, group: { name: newName("ops") } });
  const member = await ann.members.createMember({ parentPath, member: { name: newName("bob") } });
  const project = await ann.projects.createProject({ parentPath, project: { name: newName("web") } });
  return { group: group.path, member: member.path, project: project.path };
}

test.each(Object.keys(kinds))("%s sends what its golden trace says", async (kind) => {
  const prepare = kinds[kind];
  if (prepare === undefined) throw new Error(`there is no ${kind}`);
  for (let time = 0; time < 2; time++) await (await prepare())();
  await expect(await trace(await prepare())).toMatchFileSnapshot(`traces/${kind}.golden.txt`);
});

test("two writes that wait for the lock of their org share a transaction, as their golden trace says", async () => {
  const create = (options?: CallOptions): Promise<unknown> =>
    ann.members.createMember({ parentPath, member: { name: newName("bob") } }, options);
  await create();
  const blocker = await openSqlClient(server.databaseUrl);
  try {
    await blocker.query("begin");
    await blocker.query("select from orgs where name = $1 for update", [org]);
    const shared = await trace(async (options) => {
      const writes: Promise<unknown>[] = [];
      for (const count of [1, 2]) {
        writes.push(create(options));
        await expect.poll(waitingForLocks).toBe(count);
      }
      await blocker.query("commit");
      await Promise.all(writes);
      await expect.poll(openTransactions).toBe(0);
    });
    await expect(shared).toMatchFileSnapshot("traces/two-members.golden.txt");
  } finally {
    await blocker.close();
  }
});

/** Returns the number of statements that wait for a lock. */
const waitingForLocks = (): Promise<number> => countActivity("wait_event_type = 'Lock'");

/** Returns the number of transactions that have begun and not ended. */
const openTransactions = (): Promise<number> => countActivity("xact_start is not null and pid <> pg_backend_pid()");

async function countActivity(condition: string): Promise<number> {
  const count = `select count(*)::int as count from pg_stat_activity where datname = current_database() and ${condition}`;
  return Number((await client.query(count))[0]?.["count"]);
}
