// Tests that conditions, which customers write, cannot take long: what they may cost in a decision and in a request.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AccessPlace, createAccessPlace, startInstance } from "../support/access-place.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

let server: TestServer;
let place: AccessPlace;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  place = await createAccessPlace("REST", server.url, server.operatorKey);
});

const permission = startInstance;
const never = "context.n == 0";

/** Returns a condition of 59 parts that holds for no number of the context that a test sends. */
const large = (number: number): string =>
  Array(12)
    .fill(`context.n == ${1000 + number}`)
    .join(" || ");

const different = (count: number): string[] => Array.from({ length: count }, (_, number) => large(number));

/** Creates role bindings of one subject on one resource, with these conditions. */
function bindAll(parentPath: string, subjectPath: string, conditions: readonly string[]) {
  const requests = conditions.map((condition) => ({
    roleBinding: { name: uniqueName("binding"), rolePath: "/roles/admin", subjectPath, condition },
  }));
  return place.api.roleBindings.batchCreateRoleBindings({ parentPath, requests });
}

/** Creates members in a group. Returns their paths. */
async function fill(group: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `m-${index}`);
  const requests = names.map((name) => ({ member: { name } }));
  await place.api.members.batchCreateMembers({ parentPath: place.org.path, requests });
  const memberPaths = names.map((name) => `${place.org.path}/members/${name}`);
  const groupMembers = memberPaths.map((memberPath) => ({ groupMember: { memberPath } }));
  await place.api.groupMembers.batchCreateGroupMembers({ parentPath: group, requests: groupMembers });
  return memberPaths;
}

const ask = (resourcePath = place.web) => ({
  subjectPath: place.alice,
  permission,
  resourcePath,
  context: { n: 1 },
});

test("a batch in which several checks cost too much fails, and the service goes on", async () => {
  const { org, alice, access } = place;
  await bindAll(org.customerPath, alice, different(100));
  // That of the customer is looked for elsewhere, and fails after the other one, with which the batch has ended.
  const checks = [ask(org.customerPath), ask()];
  const tooCostly = { reason: "LIMIT_EXCEEDED" };
  expect(await failureOf(access.checkAccess(ask(org.customerPath)))).toMatchObject(tooCostly);
  for (const batch of [checks, checks.toReversed()])
    expect(await failureOf(access.batchCheckAccess({ checks: batch }))).toMatchObject(tooCostly);
  expect((await access.checkAccess({ ...ask(), subjectPath: place.bob })).allowed).toBe(false);
});

describe("a decision", () => {
  test("evaluates a condition that many bindings share once", async () => {
    await bindAll(place.web, place.alice, Array<string>(100).fill(large(1)));
    expect((await place.access.checkAccess(ask())).allowed).toBe(false);
  });

  test("fails when different conditions cost too much, but not for what is granted without a condition", async () => {
    const { alice, bob, grant, org, web } = place;
    await bindAll(web, alice, different(100));
    const tooCostly = { reason: "LIMIT_EXCEEDED", message: expect.stringContaining("this decision") as string };
    expect(await failureOf(place.access.checkAccess(ask()))).toMatchObject(tooCostly);
    expect(await failureOf(place.access.explainAccess(ask()))).toMatchObject(tooCostly);
    expect(await failureOf(place.access.listResources({ ...ask(), parentPath: org.path }))).toMatchObject(tooCostly);
    await grant(web, bob, "/roles/admin");
    expect(await place.may(bob, web)).toBe(true);
    expect(
      (await place.access.listSubjects({ permission, resourcePath: web, context: { n: 1 } })).subjectPaths,
    ).toEqual([bob]);
    // Granted further out, where the search comes last.
    await grant(org.path, alice, "/roles/admin");
    expect((await place.access.checkAccess(ask())).allowed).toBe(true);
  });

  test("is made about each member of a list, and fails as a check of it does", async () => {
    const { access, alice, bob, org, web } = place;
    const listed = { permission, resourcePath: web, context: { n: 1 } };
    const readSubject = different(80).map((condition) => `${condition} || subject.path == ""`);
    await bindAll(web, alice, readSubject);
    await bindAll(org.path, bob, [`subject.path.endsWith("bob")`]);
    const tooCostly = { reason: "LIMIT_EXCEEDED", message: expect.stringContaining("this decision") as string };
    expect(await failureOf(access.checkAccess(ask()))).toMatchObject(tooCostly);
    expect(await failureOf(access.listSubjects(listed))).toMatchObject(tooCostly);
  });

  test("is explained without those who could grant it, if the conditions of one of these cost too much", async () => {
    const { access, alice, bob, grant, org, web } = place;
    const ofBob = { subjectPath: bob, permission, resourcePath: web };
    await grant(org.path, alice, "/roles/admin");
    expect((await access.explainAccess(ofBob)).granterPaths).toContain(alice);
    const readSubject = Array.from({ length: 100 }, (_, number) =>
      Array(12).fill(`subject.path == "/${number}"`).join(" || "),
    );
    const carol = `${org.path}/members/carol`;
    await place.api.members.createMember({ parentPath: org.path, member: { name: "carol" } });
    await bindAll(org.path, carol, readSubject);
    expect(await access.explainAccess(ofBob)).toMatchObject({ allowed: false, granterPaths: [] });
  });

  test("is explained with its own conditions, and denied, if those of many who could grant it cost more than a request may spend", async () => {
    const { access, api, bob, grant, org, sre, web } = place;
    await fill(sre, 1000);
    await bindAll(org.path, sre, [Array(12).fill(`subject.path == "/"`).join(" || ")]);
    await bindAll(web, bob, ["context.n == 0 && context.m == 1"]);
    const explained = await access.explainAccess({ ...ask(), subjectPath: bob });
    expect(explained).toMatchObject({ allowed: false, granterPaths: [] });
    expect(explained.conditionalGrants[0]?.falseParts).toEqual(["context.n == 0", "context.m == 1"]);
    await grant(org.path, bob, "/roles/viewer");
    const { secret } = await api.apiKeys.createApiKey({ parentPath: bob, apiKey: { name: "laptop" } });
    const update = { path: web, project: {}, updateMask: { paths: ["description"] } };
    const denied = await failureOf(createApi("REST", server.url, secret).projects.updateProject(update));
    expect(denied).toMatchObject({ reason: "PERMISSION_DENIED", metadata: { permission: "iam.projects.update" } });
  });

  test("about the caller itself fails with what to do", async () => {
    const { alice, api, org } = place;
    await bindAll(org.path, alice, different(100));
    const { secret } = await api.apiKeys.createApiKey({ parentPath: alice, apiKey: { name: "laptop" } });
    const own = createApi("REST", server.url, secret);
    const failure = await failureOf(own.orgs.getOrg({ path: org.path }));
    expect(failure).toMatchObject({ reason: "LIMIT_EXCEEDED", metadata: { limit: "5000" } });
    expect(failure.message).toContain("combine or remove conditional role bindings");
  });
});

describe("a request", () => {
  test("evaluates a condition once for one subject, resource and context", async () => {
    await bindAll(place.web, place.alice, different(80));
    const { results } = await place.access.batchCheckAccess({ checks: Array(100).fill(ask()) });
    expect(results.map(({ allowed }) => allowed)).toEqual(Array(100).fill(false));
  });

  test("fails when the conditions of all its decisions cost too much", async () => {
    await bindAll(place.web, place.alice, different(80));
    const checks = Array.from({ length: 11 }, (_, index) => ask(`${place.web}/instances/i-${index}`));
    expect(await failureOf(place.access.batchCheckAccess({ checks }))).toMatchObject({
      reason: "LIMIT_EXCEEDED",
      message: expect.stringContaining("this request") as string,
    });
    expect((await place.access.batchCheckAccess({ checks: checks.slice(1) })).results).toHaveLength(10);
  });

  test("evaluates a condition that does not read the subject once for all members that it lists", async () => {
    const { web, sre } = place;
    // Alice is in the group, too.
    const count = (await fill(sre, 900)).length + 1;
    // For each member, these would cost more than a decision may spend.
    await bindAll(web, sre, different(100));
    const asked = { permission, resourcePath: web, pageSize: 1000 };
    const held = await place.access.listSubjects({ ...asked, context: { n: 1050 } });
    expect([held.subjectPaths.length, held.nextPageToken]).toEqual([count, ""]);
    const unheld = await place.access.listSubjects({ ...asked, context: { n: 1 } });
    expect([unheld.subjectPaths.length, unheld.nextPageToken]).toEqual([0, ""]);
  });

  test("ends a page of members where its conditions cost too much, and the next one goes on", async () => {
    const { web, sre } = place;
    const members = await fill(sre, 1000);
    await bindAll(web, sre, [`${large(1)} || subject.path.endsWith("7") || subject.path.endsWith("8")`]);
    const asked = { permission, resourcePath: web, context: { n: 1 }, pageSize: 1000 };
    const pages: string[][] = [];
    let pageToken = "";
    do {
      const page = await place.access.listSubjects({ ...asked, pageToken });
      pages.push(page.subjectPaths);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(pages).toHaveLength(2);
    expect(pages.flat().toSorted()).toEqual(members.filter((path) => /[78]$/.test(path)).toSorted());
  });
});

describe("a subject", () => {
  test("has at most 100 conditional bindings on one resource", async () => {
    const { alice, api, bob, grant, org, web } = place;
    await bindAll(web, alice, Array<string>(99).fill(never));
    const full = { reason: "LIMIT_EXCEEDED", metadata: { resource: alice, limit: "100" } };
    expect(await failureOf(bindAll(web, alice, [never, never]))).toMatchObject(full);
    const expireTime = timestampFromDate(new Date(Date.now() + 3_600_000));
    const last = await grant(web, alice, "/roles/viewer", { condition: never, expireTime });
    expect(await failureOf(grant(web, alice, "/roles/viewer", { condition: never }))).toMatchObject(full);
    // Other subjects and resources have room, and a binding without a condition needs none.
    await bindAll(org.path, alice, [never]);
    await bindAll(web, bob, [never]);
    const plain = await grant(web, alice, "/roles/viewer");
    const condition = { roleBinding: { condition: never }, updateMask: { paths: ["condition"] } };
    expect(await failureOf(api.roleBindings.updateRoleBinding({ path: plain, ...condition }))).toMatchObject(full);
    // Another condition in place of one needs no room.
    await api.roleBindings.updateRoleBinding({
      path: last,
      ...condition,
      roleBinding: { condition: "context.n == 9" },
    });
    await api.roleBindings.deleteRoleBinding({ path: last });
    await grant(web, alice, "/roles/viewer", { condition: never });
  });
});
