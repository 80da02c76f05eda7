// Who decides about requests to raise limits, and what becomes of the limits.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QuotaRequest_State } from "../../../gen/iam/v1alpha/quota_request_pb.ts";
import { failureOf } from "../../support/failure.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";
import { protocols, overFirst } from "../../support/transports.ts";
import { createKinds, openQuotaScene } from "./quota-scene.ts";

const { PENDING, APPROVED, REJECTED } = QuotaRequest_State;

let server: TestServer;
let sql: SqlClient;
beforeAll(async () => {
  server = await startTestServer({ purgeIntervalMs: 100 });
  sql = await openSqlClient(server.databaseUrl);
  await createKinds(server);
});
afterAll(async () => {
  await sql.close();
  await server.close();
});

describe.each(overFirst(protocols))("over %s", (protocol) => {
  test("an admin of the customer approves a request about the org: its limits are raised", async () => {
    const { person, customer, org, sister, ask, limits } = await openQuotaScene(server, protocol);
    const admin = await person("/roles/admin", customer, sister);
    const path = await ask({ cpu_cores: 64, ram: 0.3 });
    const before = await admin.requests.getQuotaRequest({ path });
    const approved = await admin.requests.approveQuotaRequest({ path, message: "Enjoy", etag: before.etag });
    expect(approved).toMatchObject({
      state: APPROVED,
      limits: { cpu_cores: 64, ram: 0.3 },
      grantedLimits: { cpu_cores: 64, ram: 0.3 },
      decisionMessage: "Enjoy",
      deciderPath: admin.path,
      memberPath: "/orgs/system/members/operator",
    });
    expect(approved.etag).not.toBe(before.etag);
    expect(timestampDate(approved.decideTime!)).toEqual(timestampDate(approved.updateTime!));
    expect(await admin.requests.getQuotaRequest({ path })).toEqual(approved);
    expect(await limits(org)).toEqual({ cpu_cores: 64, ram: 0.3 });
  });

  test("an owner of the org approves a request about a project, and rejects another one", async () => {
    const { person, org, project, projectQuota, ask, limits } = await openQuotaScene(server, protocol);
    const owner = await person("/roles/owner", org);
    const [first, second] = [await ask({ cpu_cores: 20 }, projectQuota), await ask({ ram: 5 }, projectQuota)];
    expect(await owner.requests.approveQuotaRequest({ path: first })).toMatchObject({ state: APPROVED });
    const rejected = await owner.requests.rejectQuotaRequest({ path: second, message: "Use less" });
    expect(rejected).toMatchObject({
      state: REJECTED,
      grantedLimits: {},
      decisionMessage: "Use less",
      deciderPath: owner.path,
    });
    expect(await limits(project)).toEqual({ cpu_cores: 20, ram: 0.1 });
    expect(await limits(org)).toEqual({ cpu_cores: 10, ram: 0.1 });
  });

  test("a check with validate_only decides nothing, and a request id answers a repeat", async () => {
    const { operator, org, ask, limits } = await openQuotaScene(server, protocol);
    const { requests } = operator;
    const path = await ask({ cpu_cores: 64 });
    for (const checked of [
      await requests.approveQuotaRequest({ path, validateOnly: true }),
      await requests.rejectQuotaRequest({ path, validateOnly: true }),
    ]) {
      expect(checked.state).not.toBe(PENDING);
    }
    expect(await requests.getQuotaRequest({ path })).toMatchObject({ state: PENDING, deciderPath: "" });
    expect(await limits(org)).toMatchObject({ cpu_cores: 10 });
    const approve = { path, requestId: randomUUID(), message: "once" };
    const approved = await requests.approveQuotaRequest(approve);
    expect(await requests.approveQuotaRequest(approve)).toEqual(approved);
    const reused = failureOf(requests.approveQuotaRequest({ ...approve, message: "twice" }));
    expect(await reused).toMatchObject({ fields: ["request_id"] });
  });
});

describe("permissions", () => {
  const places = ["customer", "org", "project"] as const;
  const about = { org: "the org", project: "a project" };

  /** Where admins hold their role → about which quotas they decide. */
  const table: Readonly<Record<(typeof places)[number], readonly (keyof typeof about)[]>> = {
    customer: ["org", "project"],
    org: ["project"],
    project: [],
  };

  test.each(places)("an admin of the %s", async (place) => {
    const scene = await openQuotaScene(server);
    const { person, customer, org, project, ask, limits } = scene;
    const admin = await person("/roles/admin", scene[place]);
    for (const level of ["org", "project"] as const) {
      const quotaPath = level === "org" ? scene.quota : scene.projectQuota;
      const [first, second] = [await ask({ cpu_cores: 20 }, quotaPath), await ask({ cpu_cores: 30 }, quotaPath)];
      const approve = admin.requests.approveQuotaRequest({ path: first });
      const reject = () => admin.requests.rejectQuotaRequest({ path: second });
      if (table[place].includes(level)) {
        expect([(await approve).state, (await reject()).state]).toEqual([APPROVED, REJECTED]);
        continue;
      }
      for (const failure of [await failureOf(approve), await failureOf(reject())]) {
        expect(failure.reason).toBe("PERMISSION_DENIED");
        if (place === "project") continue;
        expect(failure).toMatchObject({
          message: `the caller may not decide about limits of ${org}, which requires the permission iam.quotas.update on ${customer}`,
          metadata: { permission: "iam.quotas.update", resource: customer },
        });
      }
      expect(await limits(level === "org" ? org : project)).toMatchObject({ cpu_cores: 10 });
      expect(await scene.operator.requests.getQuotaRequest({ path: first })).toMatchObject({ state: PENDING });
    }
  });

  test("the permission to raise limits alone decides nothing, nor does the one to decide", async () => {
    const { operator, person, org, projectQuota, ask } = await openQuotaScene(server);
    const role = async (name: string, ...permissions: string[]) =>
      (await operator.api.roles.createRole({ parentPath: org, role: { name, permissions } })).path;
    const decides = ["iam.quotaRequests.approve", "iam.quotaRequests.reject"];
    const path = await ask({ cpu_cores: 20 }, projectQuota);
    const expectDenied = async ({ requests }: { requests: typeof operator.requests }, permissions: string[]) => {
      const failures = [
        await failureOf(requests.approveQuotaRequest({ path })),
        await failureOf(requests.rejectQuotaRequest({ path })),
      ];
      expect(failures.map(({ reason }) => reason)).toEqual(["PERMISSION_DENIED", "PERMISSION_DENIED"]);
      expect(failures.map(({ metadata }) => metadata["permission"])).toEqual(permissions);
    };
    await expectDenied(await person(await role("raiser", "iam.quotas.update"), org), decides);
    await expectDenied(await person(await role("decider", ...decides), org), [
      "iam.quotas.update",
      "iam.quotas.update",
    ]);
    const both = await person(await role("both", "iam.quotas.update", ...decides), org);
    expect((await both.requests.approveQuotaRequest({ path })).state).toBe(APPROVED);
  });
});

describe("approving", () => {
  test("grants other amounts, of those kinds alone that are given", async () => {
    const { operator, org, ask, limits } = await openQuotaScene(server);
    const path = await ask({ cpu_cores: 64, ram: 8 });
    const approved = await operator.requests.approveQuotaRequest({ path, limits: { cpu_cores: 48.5 } });
    expect(approved).toMatchObject({ limits: { cpu_cores: 64, ram: 8 }, grantedLimits: { cpu_cores: 48.5 } });
    expect(await limits(org)).toEqual({ cpu_cores: 48.5, ram: 0.1 });
  });

  test.each([
    ["of a kind that was not asked for", { ports: 5 }, 'limits["ports"]', "asks for cpu_cores, ram"],
    ["of no kind", { "": 5 }, 'limits[""]', "at least 1"],
    ["below zero", { cpu_cores: -1 }, 'limits["cpu_cores"]', "greater than or equal to 0"],
  ])("refuses amounts %s", async (_what, instead, field, says) => {
    const { operator, ask } = await openQuotaScene(server);
    const path = await ask({ cpu_cores: 64, ram: 8 });
    const failure = await failureOf(operator.requests.approveQuotaRequest({ path, limits: { ...instead } }));
    expect(failure).toMatchObject({ code: "InvalidArgument", fields: [field] });
    expect(failure.message).toContain(says);
    expect(await operator.requests.getQuotaRequest({ path })).toMatchObject({ state: PENDING });
  });

  test("never lowers a limit, nor sets one that was removed", async () => {
    const { operator, org, ask, limits, setLimits } = await openQuotaScene(server);
    const path = await ask({ cpu_cores: 64, ram: 8 });
    await setLimits(org, { cpu_cores: 100 });
    const { grantedLimits, state } = await operator.requests.approveQuotaRequest({ path });
    expect([state, grantedLimits]).toEqual([APPROVED, {}]);
    expect(await limits(org)).toEqual({ cpu_cores: 100 });
  });

  test("raises what was lowered meanwhile, also below what was asked", async () => {
    const { operator, org, ask, limits, setLimits } = await openQuotaScene(server);
    const path = await ask({ cpu_cores: 64 });
    await setLimits(org, { cpu_cores: 2 });
    const { grantedLimits } = await operator.requests.approveQuotaRequest({ path, limits: { cpu_cores: 5 } });
    expect([grantedLimits, await limits(org)]).toEqual([{ cpu_cores: 5 }, { cpu_cores: 5 }]);
  });

  test("fails for a request that has changed since it was read, and for one that is gone", async () => {
    const { operator, ask } = await openQuotaScene(server);
    const { requests } = operator;
    const path = await ask({ cpu_cores: 11 });
    const { etag } = await requests.getQuotaRequest({ path });
    await requests.updateQuotaRequest({ path, quotaRequest: { limits: { cpu_cores: 1e6 } } });
    for (const decide of ["approveQuotaRequest", "rejectQuotaRequest"] as const) {
      expect(await failureOf(requests[decide]({ path, etag }))).toMatchObject({ reason: "ETAG_STALE" });
      expect(await failureOf(requests[decide]({ path: `${path}-not` }))).toMatchObject({
        reason: "RESOURCE_NOT_FOUND",
      });
    }
  });

  test("fails in an org that is suspended", async () => {
    const { operator, org, ask } = await openQuotaScene(server);
    const path = await ask({ cpu_cores: 11 });
    await operator.api.orgs.suspendOrg({ path: org });
    expect(await failureOf(operator.requests.approveQuotaRequest({ path }))).toMatchObject({ reason: "STATE_FORBIDS" });
  });
});

test("what is decided cannot be decided again", async () => {
  const { operator, org, ask, limits } = await openQuotaScene(server);
  const { requests } = operator;
  const [approved, rejected] = [await ask({ cpu_cores: 11 }), await ask({ cpu_cores: 12 })];
  await requests.approveQuotaRequest({ path: approved });
  await requests.rejectQuotaRequest({ path: rejected });
  for (const [path, state] of [
    [approved, "APPROVED"],
    [rejected, "REJECTED"],
  ] as const) {
    for (const decide of ["approveQuotaRequest", "rejectQuotaRequest"] as const) {
      expect(await failureOf(requests[decide]({ path }))).toMatchObject({
        code: "FailedPrecondition",
        reason: "STATE_FORBIDS",
        message: `the quota request ${path} is ${state}: it cannot be decided again`,
        metadata: { resource: path, state },
      });
    }
  }
  expect(await limits(org)).toMatchObject({ cpu_cores: 11 });
});

test("a request about a deleted project can be rejected, not approved, and is purged with the project", async () => {
  const { operator, org, project, projectId, projectQuota, ask } = await openQuotaScene(server);
  const { requests, api } = operator;
  const [first, second] = [await ask({ cpu_cores: 11 }, projectQuota), await ask({ cpu_cores: 12 }, projectQuota)];
  const kept = await ask({ cpu_cores: 13 });
  await api.projects.deleteProject({ path: project });
  expect(await failureOf(requests.approveQuotaRequest({ path: first }))).toMatchObject({
    reason: "STATE_FORBIDS",
    message: `the project ${org}/projects/@${projectId} is DELETED`,
  });
  const update = { path: first, quotaRequest: { limits: { cpu_cores: 15 } } };
  expect(await failureOf(requests.updateQuotaRequest(update))).toMatchObject({ reason: "STATE_FORBIDS" });
  const rejected = await requests.rejectQuotaRequest({ path: second });
  expect(rejected).toMatchObject({ state: REJECTED, quotaPath: `${org}/projects/@${projectId}/quota` });
  await api.projects.purgeProject({ path: `${org}/projects/@${projectId}` });
  const left = async () => {
    const { quotaRequests, totalSize } = await requests.listQuotaRequests({ parentPath: org });
    return [quotaRequests.map(({ path }) => path), totalSize];
  };
  await expect.poll(left).toEqual([[kept], 1]);
});

test("the change log has the request and the quota, in the same revision, by who decided", async () => {
  const { person, customer, org, orgId, ask } = await openQuotaScene(server);
  const admin = await person("/roles/admin", customer);
  const path = await ask({ cpu_cores: 64, ram: 0.3 });
  const { id } = await admin.requests.approveQuotaRequest({ path, limits: { ram: 0.2 } });
  const lines = await sql.query(
    `select resource_type, resource_id, resource_path, method, before->>'state' as before, after->>'state' as after,
        before->'limits' as limits_before, after->'limits' as limits, after->'granted_limits' as granted,
        (select name from members where id = actor_id) as actor
      from changes where org_id = $1 and revision = (
        select revision from changes where org_id = $1 and resource_id = $2 order by time desc limit 1
      ) order by position`,
    [orgId, id],
  );
  const common = {
    method: "iam.v1alpha.QuotaRequestsService/ApproveQuotaRequest",
    actor: admin.path.split("/").at(-1),
  };
  expect(lines).toEqual([
    {
      ...common,
      resource_type: "Quota",
      resource_id: orgId,
      resource_path: `${org}/quota`,
      before: null,
      after: null,
      limits_before: { cpu_cores: "10", ram: "0.1" },
      limits: { cpu_cores: "10", ram: "0.2" },
      granted: null,
    },
    {
      ...common,
      resource_type: "QuotaRequest",
      resource_id: id,
      resource_path: path,
      before: "PENDING",
      after: "APPROVED",
      limits_before: { cpu_cores: 64, ram: 0.3 },
      limits: { cpu_cores: 64, ram: 0.3 },
      granted: { ram: 0.2 },
    },
  ]);
});
