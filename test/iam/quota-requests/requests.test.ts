// Requests to raise limits: what can be asked for, by whom, and what lists find.
import { createClient } from "@connectrpc/connect";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QuotaRequestsService, QuotaRequest_State } from "../../../gen/iam/v1alpha/quota_request_pb.ts";
import { createApi, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";
import { protocols, overFirst } from "../../support/transports.ts";
import { createKinds, openQuotaScene } from "./quota-scene.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await createKinds(server);
});
afterAll(() => server.close());

describe.each(overFirst(protocols))("over %s", (protocol) => {
  test("an editor asks for limits of the org and of a project, changes what it asks for, and withdraws it", async () => {
    const { person, org, quota, projectQuota } = await openQuotaScene(server, protocol);
    const { path: memberPath, requests } = await person("/roles/editor", org);
    const create = (name: string, quotaPath: string, limits: Record<string, number>) =>
      requests.createQuotaRequest({
        parentPath: org,
        quotaRequest: { name, quotaPath, limits, description: "For the shop" },
      });
    const created = await create("more", quota, { cpu_cores: 64, ram: 0.2 });
    expect(created).toMatchObject({
      path: `${org}/quotaRequests/more`,
      name: "more",
      displayName: "more",
      description: "For the shop",
      quotaPath: quota,
      limits: { cpu_cores: 64, ram: 0.2 },
      memberPath,
      state: QuotaRequest_State.PENDING,
      grantedLimits: {},
      decisionMessage: "",
      deciderPath: "",
    });
    expect(created.decideTime).toBeUndefined();
    expect(await requests.getQuotaRequest({ path: created.path })).toEqual(created);
    expect((await create("of-project", projectQuota, { cpu_cores: 11 })).quotaPath).toBe(projectQuota);

    const { path } = created;
    const update = (limits: Record<string, number>, ...paths: string[]) =>
      requests.updateQuotaRequest({ path, quotaRequest: { limits }, updateMask: { paths } });
    expect((await update({ cpu_cores: 32 }, "limits.cpu_cores")).limits).toEqual({ cpu_cores: 32, ram: 0.2 });
    expect((await update({ ram: 1 }, "limits")).limits).toEqual({ ram: 1 });
    await requests.deleteQuotaRequest({ path });
    expect(await failureOf(requests.getQuotaRequest({ path }))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
  });

  test("an Update with allow_missing asks as a Create does", async () => {
    const { operator, org, quota } = await openQuotaScene(server, protocol);
    const path = `${org}/quotaRequests/later`;
    const quotaRequest = { quotaPath: quota, limits: { cpu_cores: 11 } };
    const created = await operator.requests.updateQuotaRequest({ path, quotaRequest, allowMissing: true });
    expect(created).toMatchObject({ path, memberPath: operator.path, ...quotaRequest });
    const wrong = { path: `${org}/quotaRequests/never`, quotaRequest: { quotaPath: quota }, allowMissing: true };
    expect((await failureOf(operator.requests.updateQuotaRequest(wrong))).fields).toEqual(["quota_request.limits"]);
  });
});

test("lists find requests by state, quota, people and labels, in all orgs at once", async () => {
  const { operator, org, project, quota, projectQuota, ask } = await openQuotaScene(server);
  const other = await openQuotaScene(server);
  const { requests } = operator;
  const [ofOrg, ofProject, ofOther] = [
    await ask({ cpu_cores: 11 }),
    await ask({ cpu_cores: 12 }, projectQuota),
    await other.ask({ cpu_cores: 13 }),
  ];
  await requests.updateQuotaRequest({ path: ofOrg, quotaRequest: { labels: { urgent: "yes" } } });
  const { decideTime } = await requests.rejectQuotaRequest({ path: ofProject });
  const list = async (filter: string, parentPath = org) =>
    (await requests.listQuotaRequests({ parentPath, filter })).quotaRequests.map(({ path }) => path);
  expect(await list("")).toEqual([ofOrg, ofProject]);
  expect(await list("state = PENDING")).toEqual([ofOrg]);
  expect(await list("state = REJECTED")).toEqual([ofProject]);
  expect(await list(`quota_path = "${quota}"`)).toEqual([ofOrg]);
  expect(await list(`quota_path = "${project}/quota"`)).toEqual([ofProject]);
  expect(await list(`member_path = "${operator.path}"`)).toEqual([ofOrg, ofProject]);
  expect(await list(`decider_path = "${operator.path}"`)).toEqual([ofProject]);
  expect(await list(`decide_time >= ${timestampDate(decideTime!).toISOString()}`)).toEqual([ofProject]);
  expect(await list(`labels.urgent = "yes"`)).toEqual([ofOrg]);
  const everywhere = await list("state = PENDING", "/orgs/-");
  expect(everywhere).toEqual(expect.arrayContaining([ofOrg, ofOther]));
  expect(everywhere).not.toContain(ofProject);
});

test("a list of all orgs has those of the orgs that the caller may read", async () => {
  const { customer, person, sister, ask, operator } = await openQuotaScene(server);
  await (await openQuotaScene(server)).ask({ cpu_cores: 13 });
  const [first, limits] = [await ask({ cpu_cores: 11 }), { cpu_cores: 1 }];
  await operator.quotas.updateQuota({ parentPath: sister, quota: { limits } });
  const { path: second } = await operator.requests.createQuotaRequest({
    parentPath: sister,
    quotaRequest: { name: "more", quotaPath: `${sister}/quota`, limits: { cpu_cores: 2 } },
  });
  const admin = await person("/roles/admin", customer);
  const { quotaRequests } = await admin.requests.listQuotaRequests({ parentPath: "/orgs/-" });
  expect(quotaRequests.map(({ path }) => path)).toEqual([first, second]);
});

test("asking for less shows the present limit, or that there is none, only to who may get the quota", async () => {
  const { person, operator, org, quota } = await openQuotaScene(server);
  const role = { name: "asker", permissions: ["iam.quotaRequests.create"] };
  const { path: rolePath } = await createApi("gRPC", server.url, server.operatorKey).roles.createRole({
    parentPath: org,
    role,
  });
  const asker = await person(rolePath, org);
  const refusal = async ({ requests }: Pick<typeof asker, "requests">, limits: Record<string, number>) =>
    (
      await failureOf(
        requests.createQuotaRequest({ parentPath: org, quotaRequest: { name: "x", quotaPath: quota, limits } }),
      )
    ).message;
  expect(await refusal(operator, { cpu_cores: 10 })).toContain("must be above 10, the present limit");
  const hidden = `must be above the present limit of ${quota}, or be left out if that has none; to see it requires iam.quotas.get`;
  for (const limits of [{ cpu_cores: 10 }, { ports: 5 }]) {
    expect(await refusal(asker, limits)).toBe(`quota_request.limits["${Object.keys(limits)[0]}"]: ${hidden}`);
  }
});

describe("asking is refused", () => {
  test.each<[what: string, fields: object, expected: { field: string; says: string }]>([
    ["nothing", { limits: {} }, { field: "quota_request.limits", says: "must be set" }],
    [
      "no quota",
      { quotaPath: "", limits: { cpu_cores: 11 } },
      { field: "quota_request.quota_path", says: "must be set" },
    ],
    [
      "a path that is no quota",
      { quotaPath: "/orgs/acme" },
      {
        field: "quota_request.quota_path",
        says: 'must have one of the forms orgs/{org}/quota, orgs/{org}/projects/{project}/quota, got "/orgs/acme"',
      },
    ],
    [
      "the quota of a customer",
      { quotaPath: "/customers/acme/quota" },
      { field: "quota_request.quota_path", says: "must have one of the forms orgs/{org}/quota" },
    ],
    [
      "a quota with a wrong name",
      { quotaPath: "/orgs/ACME/quota" },
      { field: "quota_request.quota_path", says: "must be a name" },
    ],
    [
      "the quota of another org",
      { quotaPath: "/orgs/system/quota" },
      { field: "quota_request.quota_path", says: "must be in the same org, /orgs/acme" },
    ],
    [
      "a kind that does not exist",
      { limits: { gpu: 1 } },
      { field: 'quota_request.limits["gpu"]', says: "must be the limit of a QuantityKind" },
    ],
    [
      "no kind",
      { limits: { "cpu-cores": 1 } },
      { field: 'quota_request.limits["cpu-cores"]', says: "must be 1 to 63" },
    ],
    [
      "the present limit",
      { limits: { cpu_cores: 10 } },
      { field: 'quota_request.limits["cpu_cores"]', says: "must be above 10, the present limit of /orgs/acme" },
    ],
    [
      "less",
      { limits: { ram: 0.09, cpu_cores: 11 } },
      { field: 'quota_request.limits["ram"]', says: "must be above 0.1, the present limit" },
    ],
    [
      "a kind without a limit",
      { limits: { ports: 5 } },
      { field: 'quota_request.limits["ports"]', says: "has no limit for it, so there is nothing to ask for" },
    ],
    [
      "too much",
      { limits: { cpu_cores: 1e25 } },
      { field: 'quota_request.limits["cpu_cores"]', says: "less than or equal to 1e+24" },
    ],
  ])("for %s", async (_what, fields, { field, says }) => {
    const { operator, org, quota } = await openQuotaScene(server);
    const quotaRequest = { name: "more", quotaPath: quota, limits: { cpu_cores: 11 }, ...fields };
    const failure = await failureOf(operator.requests.createQuotaRequest({ parentPath: org, quotaRequest }));
    expect([failure.code, failure.fields]).toEqual(["InvalidArgument", [field]]);
    expect(failure.message.replaceAll(/acme-?\w+/g, "acme")).toContain(says);
  });

  test("for a project that is deleted or does not exist; a batch names the item", async () => {
    const { operator, org, project, projectId, projectQuota, quota } = await openQuotaScene(server);
    const item = (name: string, quotaPath: string, cores = 11) => ({
      quotaRequest: { name, quotaPath, limits: { cpu_cores: cores } },
    });
    const attempt = (quotaPath: string) =>
      failureOf(operator.requests.createQuotaRequest({ parentPath: org, ...item("more", quotaPath) }));
    expect(await attempt(`${org}/projects/other/quota`)).toMatchObject({
      reason: "RESOURCE_NOT_FOUND",
      message: `there is no project ${org}/projects/other`,
    });
    await operator.api.projects.deleteProject({ path: project });
    expect(await attempt(projectQuota)).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
    expect(await attempt(`${org}/projects/@${projectId}/quota`)).toMatchObject({ reason: "STATE_FORBIDS" });
    const requests = [item("one", quota), item("two", quota, 9)];
    const failure = await failureOf(operator.requests.batchCreateQuotaRequests({ parentPath: org, requests }));
    expect(failure.fields).toEqual(['requests[1].quota_request.limits["cpu_cores"]']);
    expect((await operator.requests.listQuotaRequests({ parentPath: org })).quotaRequests).toEqual([]);
  });

  test("the quota cannot be changed afterwards, and limits only while the request is pending", async () => {
    const { operator, ask, projectQuota, quota } = await openQuotaScene(server);
    const { requests } = operator;
    const path = await ask({ cpu_cores: 11 });
    const update = (quotaRequest: object, ...paths: string[]) =>
      requests.updateQuotaRequest({ path, quotaRequest, updateMask: { paths } });
    expect((await failureOf(update({ quotaPath: projectQuota }, "quota_path"))).fields).toEqual([
      "quota_request.quota_path",
    ]);
    expect(await failureOf(update({ limits: { cpu_cores: 9 } }, "limits"))).toMatchObject({
      fields: ['quota_request.limits["cpu_cores"]'],
    });
    await requests.rejectQuotaRequest({ path });
    expect(await failureOf(update({ limits: { cpu_cores: 12 } }, "limits"))).toMatchObject({
      reason: "STATE_FORBIDS",
      message: `the quota request ${path} is REJECTED: its limits cannot be changed`,
    });
    const limits = { cpu_cores: 11 };
    const changed = await update(
      { displayName: "Old", quotaPath: quota, limits },
      "display_name",
      "limits",
      "quota_path",
    );
    expect(changed).toMatchObject({ displayName: "Old", limits });
  });
});

test("roles: who reads, asks and withdraws", async () => {
  const { person, ask, org, quota } = await openQuotaScene(server);
  const path = await ask({ cpu_cores: 11 });
  const attempt = (call: Promise<unknown>) =>
    call.then(
      () => true,
      async (error: unknown) => (await failureOf(Promise.reject(error))).reason !== "PERMISSION_DENIED",
    );
  const outcomes: Record<string, readonly boolean[]> = {};
  for (const role of ["owner", "admin", "editor", "projects-admin", "viewer", "groups-admin"]) {
    const { requests } = await person(`/roles/${role}`, org);
    const quotaRequest = { name: uniqueName("more"), quotaPath: quota, limits: { cpu_cores: 11 } };
    outcomes[role] = [
      await attempt(requests.getQuotaRequest({ path })),
      await attempt(requests.createQuotaRequest({ parentPath: org, quotaRequest })),
      await attempt(requests.deleteQuotaRequest({ path: `${org}/quotaRequests/none` })),
    ];
  }
  expect(outcomes).toEqual({
    owner: [true, true, true],
    admin: [true, true, true],
    editor: [true, true, true],
    "projects-admin": [true, true, true],
    viewer: [true, false, false],
    "groups-admin": [false, false, false],
  });
});

test("a limited number of them fits into an org", async () => {
  const small = await startTestServer({ limits: { QuotaRequest: 2 } });
  try {
    await createKinds(small);
    const { ask, operator } = await openQuotaScene(small);
    const first = await ask({ cpu_cores: 11 });
    await ask({ cpu_cores: 12 });
    expect(await failureOf(ask({ cpu_cores: 13 }))).toMatchObject({ reason: "LIMIT_EXCEEDED" });
    await operator.requests.deleteQuotaRequest({ path: first });
    await ask({ cpu_cores: 13 });
  } finally {
    await small.close();
  }
});

test("a member that is gone is no longer named", async () => {
  const { person, operator, org, quota } = await openQuotaScene(server);
  const { path: memberPath, requests } = await person("/roles/editor", org);
  const quotaRequest = { name: "more", quotaPath: quota, limits: { cpu_cores: 11 } };
  const { path } = await requests.createQuotaRequest({ parentPath: org, quotaRequest });
  const { id } = await operator.api.members.deleteMember({ path: memberPath });
  const read = createClient(QuotaRequestsService, createApi("gRPC", server.url, server.operatorKey).transport);
  expect((await read.getQuotaRequest({ path })).memberPath).toBe(`${org}/members/@${id}`);
});
