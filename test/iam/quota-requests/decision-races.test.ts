// Decisions on two servers at the same time, and against other changes of what they depend on.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { required } from "../../../src/errors/required.ts";
import { failureOf } from "../../support/failure.ts";
import { rounds, soakTimeoutMs } from "../../support/rounds.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";
import { createKinds, openQuotaScene } from "./quota-scene.ts";

let first: TestServer;
let second: TestServer;
let sql: SqlClient;
beforeAll(async () => {
  first = await startTestServer();
  second = await startTestServer({ databaseUrl: first.databaseUrl });
  sql = await openSqlClient(first.databaseUrl);
  await createKinds(first);
});
afterAll(async () => {
  await sql.close();
  await second.close();
  await first.close();
});

/** Locks an org, so that its writes wait. */
async function lockOrg(orgId: string): Promise<{ release(): Promise<void> }> {
  const client = new pg.Client({ connectionString: first.databaseUrl });
  await client.connect();
  await client.query("begin");
  await client.query("select from orgs where id = $1 for no key update", [orgId]);
  return { release: () => client.end() };
}

/** Resolves when this many sessions wait for a lock. */
async function waiting(count: number): Promise<void> {
  const read = async () =>
    required(
      (
        await sql.query(
          `select count(*)::int as count from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
        )
      )[0],
    )["count"];
  while ((await read()) !== count);
}

const outcomeOf = (call: Promise<{ readonly deciderPath: string }>): Promise<string> =>
  call.then(
    ({ deciderPath }) => deciderPath,
    async (error: unknown) => (await failureOf(Promise.reject(error))).reason ?? "",
  );

test("of many decisions on two servers, exactly one is made", { timeout: soakTimeoutMs }, async () => {
  const { person, at, customer, org, ask, limits, operator, setLimits } = await openQuotaScene(first);
  const [alice, bob] = [await person("/roles/admin", customer), await person("/roles/owner", customer)];
  const deciders = [alice, at(bob, second)];
  for (let round = 0; round < rounds(5, 200); round++) {
    await setLimits(org, { cpu_cores: 1 });
    const path = await ask({ cpu_cores: 1000 });
    const calls = deciders.flatMap(({ requests }, index) => [
      requests.approveQuotaRequest({ path, limits: { cpu_cores: 10 + index } }),
      requests.rejectQuotaRequest({ path }),
    ]);
    const outcomes = await Promise.all(calls.map(outcomeOf));
    const made = outcomes.filter((outcome) => outcome !== "STATE_FORBIDS");
    expect(made).toHaveLength(1);
    const { grantedLimits, deciderPath } = await operator.requests.getQuotaRequest({ path });
    expect([deciderPath, await limits(org)]).toEqual([made[0], { cpu_cores: 1, ...grantedLimits }]);
  }
});

describe("an approval against an UpdateQuota", () => {
  test.each([
    ["raises the limit further", { cpu_cores: 100 }, { cpu_cores: 100 }, {}],
    ["raises it less", { cpu_cores: 15 }, { cpu_cores: 20 }, { cpu_cores: 20 }],
    ["lowers it", { cpu_cores: 5 }, { cpu_cores: 20 }, { cpu_cores: 20 }],
    ["removes it", {}, {}, {}],
  ] as const)("that %s before: the higher limit counts", async (_what, update, expected, granted) => {
    const { operator, at, org, orgId, ask, limits } = await openQuotaScene(first);
    const { requests } = at(operator, second);
    const path = await ask({ cpu_cores: 20 });
    const lock = await lockOrg(orgId);
    const quota = { parentPath: org, quota: { limits: { ...update } }, updateMask: { paths: ["limits"] } };
    const updated = operator.quotas.updateQuota(quota);
    await waiting(1);
    const approved = requests.approveQuotaRequest({ path });
    await waiting(2);
    await lock.release();
    await updated;
    expect((await approved).grantedLimits).toEqual(granted);
    expect(await limits(org)).toEqual(expected);
  });

  test("with the etag of the limits before the approval: the update fails", async () => {
    const { operator, at, org, orgId, ask, limits } = await openQuotaScene(first);
    const { etag } = await operator.quotas.getQuota({ parentPath: org });
    const path = await ask({ cpu_cores: 20 });
    const lock = await lockOrg(orgId);
    const approved = at(operator, second).requests.approveQuotaRequest({ path });
    await waiting(1);
    const updated = failureOf(
      operator.quotas.updateQuota({ parentPath: org, quota: { limits: { cpu_cores: 1 }, etag } }),
    );
    await waiting(2);
    await lock.release();
    await approved;
    expect(await updated).toMatchObject({ reason: "ETAG_STALE" });
    expect(await limits(org)).toMatchObject({ cpu_cores: 20 });
  });
});

test.each(["approveQuotaRequest", "rejectQuotaRequest"] as const)(
  "%s by somebody who loses the permission to raise limits while it waits is refused",
  async (method) => {
    const { operator, person, at, customer, org, orgId, ask, limits } = await openQuotaScene(first);
    const { roles, roleBindings } = operator.api;
    const admin = await person("/roles/admin", customer);
    const listed = await roleBindings.listRoleBindings({ parentPath: customer });
    const { path: binding } = required(listed.roleBindings.find(({ subjectPath }) => subjectPath === admin.path));
    // The permission to decide stays.
    const permissions = ["iam.quotaRequests.approve", "iam.quotaRequests.reject"];
    const { path: rolePath } = await roles.createRole({ parentPath: org, role: { name: "decider", permissions } });
    const roleBinding = { name: "decider", subjectPath: admin.path, rolePath };
    await roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    const path = await ask({ cpu_cores: 20 });
    const lock = await lockOrg(orgId);
    const removal = roleBindings.deleteRoleBinding({ path: binding });
    await waiting(1);
    const call = failureOf(at(admin, second).requests[method]({ path }));
    await waiting(2);
    await lock.release();
    await removal;
    expect(await call).toMatchObject({
      reason: "PERMISSION_DENIED",
      metadata: { permission: "iam.quotas.update", resource: customer },
    });
    expect(await limits(org)).toMatchObject({ cpu_cores: 10 });
    expect(await operator.requests.getQuotaRequest({ path })).toMatchObject({ deciderPath: "" });
  },
);
