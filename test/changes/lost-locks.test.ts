// What becomes of a write whose lock of the org does not hold: another server gets the lock, too, and commits first.
import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { loseLocks } from "../support/lost-locks.ts";
import { numbersOf } from "../support/revisions.ts";
import { secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";

let api: Api;
let other: Api;
let client: SqlClient;
beforeAll(async () => {
  const server = await sharedServer();
  api = createApi("Connect", server.url, server.operatorKey);
  other = createApi("Connect", (await secondSharedServer()).url, server.operatorKey);
  client = await openSqlClient(server.databaseUrl);
});
afterAll(() => client.close());

let org: string;
/** Once it is found that the caller may write there, the org is named by its id. */
let orgId: string;
let parentPath: string;
/** The number of members that the other server has created in the org. */
let others: number;
beforeEach(async () => {
  others = 0;
  org = uniqueName("acme");
  parentPath = `/orgs/${org}`;
  ({ id: orgId } = await api.orgs.createOrg({ org: { name: org } }));
});

const create = (from: Api, name: string, validateOnly = false) =>
  from.members.createMember({ parentPath, member: { name }, validateOnly });

const createMany = (count: number) => {
  const requests = Array.from({ length: count }, (_, index) => ({ member: { name: `member-${index}` } }));
  return api.members.batchCreateMembers({ parentPath, requests });
};

/** Makes a call whose first locks are lost to writes of the other server. Returns what comes of it, and of its locks. */
async function callWithLostLocks<Result>(times: number, call: () => Promise<Result>) {
  const locks = loseLocks(orgId, times, () => create(other, `other-${++others}`));
  try {
    return { result: await call(), ...locks.counts() };
  } finally {
    locks.end();
  }
}

/** Returns the number of each write in the org's log, and whether the last one is the head. */
async function readLog() {
  const rows = await client.query(
    `select distinct changes.revision, request_id, orgs.revision as head from changes
     join orgs on orgs.id = org_id where orgs.name = $1 order by 1`,
    [org],
  );
  const revisions = rows.map(({ revision }) => ({ revision: String(revision) }));
  return { numbers: numbersOf(revisions), endsAtHead: rows.at(-1)?.["revision"] === rows.at(-1)?.["head"] };
}

const namesIn = async (): Promise<string[]> =>
  (await api.members.listMembers({ parentPath, pageSize: 1000 })).members.map(({ name }) => name);

test.each<[string, () => Promise<unknown>, number]>([
  ["write", () => create(api, "alice"), 1],
  ["batch of three", () => createMany(3), 3],
  ["batch whose entries are sent as arrays", () => createMany(60), 60],
])("a %s whose lock does not hold runs again, and no revision is given twice", async (_kind, call, count) => {
  expect(await callWithLostLocks(1, call)).toMatchObject({ asked: 2, lost: 1 });
  expect(await readLog()).toEqual({ numbers: [1, 2, 3], endsAtHead: true });
  expect(await namesIn()).toHaveLength(count + 1);
});

test("a dry run whose lock does not hold runs again, and sees what was written meanwhile", async () => {
  const tried = callWithLostLocks(1, () => create(api, "other-1", true));
  await expect(failureOf(tried)).resolves.toMatchObject({ reason: "RESOURCE_EXISTS" });
  expect(await callWithLostLocks(1, () => create(api, "alice", true))).toMatchObject({ asked: 2, lost: 1 });
  expect(await readLog()).toEqual({ numbers: [1, 2, 3], endsAtHead: true });
});

test("a write that has lost three locks leaves nothing, and fails with an error that says when to try again", async () => {
  const { result: error, ...counts } = await callWithLostLocks(Infinity, () =>
    create(api, "alice").catch((thrown: unknown) => ConnectError.from(thrown)),
  );
  expect(counts).toEqual({ asked: 3, lost: 3 });
  await expect(failureOf(Promise.reject(error))).resolves.toMatchObject({
    code: "Unavailable",
    reason: "SERVICE_UNAVAILABLE",
  });
  expect((error as ConnectError).findDetails(RetryInfoSchema)).toHaveLength(1);
  expect(await readLog()).toEqual({ numbers: [1, 2, 3, 4], endsAtHead: true });
  expect(await namesIn()).toEqual(["other-1", "other-2", "other-3"]);
});
