// Tests the decision about a call, from its path to the answer, on a real database: what is in the caller's org is resolved from
// its snapshot, and customers, services and other orgs from the tables.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAuthorise } from "../../src/access/evaluation/authorise.ts";
import { createViewCaller } from "../../src/access/evaluation/caller-view.ts";
import { compileWithinBudget } from "../../src/access/evaluation/condition-input.ts";
import { createAccessEvaluator } from "../../src/access/evaluation/evaluator.ts";
import { parseTargetPath } from "../../src/access/evaluation/target-path.ts";
import { unlimited } from "../../src/access/evaluation/visibility.ts";
import { createSnapshots } from "../../src/access/snapshots/current-snapshots.ts";
import type { Database } from "../../src/database/database.ts";
import type { Caller } from "../../src/identity/caller.ts";
import { patterns } from "../../src/paths/patterns.ts";
import { type CallSlices, createCallSlices } from "../../src/scheduling/call-slices.ts";
import { createTimeSlices } from "../../src/scheduling/time-slices.ts";
import { openOwnDatabase } from "../support/test-database.ts";
import { names } from "./sample-snapshot.ts";
import {
  type TwoOrgs,
  createTwoOrgs,
  customerOf,
  decidingIn,
  denied,
  listed,
  onPlatform,
  requirement,
  roles,
  start,
  alone,
} from "./deciding.ts";
import { type GuardPlace } from "./guard-place.ts";

let database: Database;
beforeAll(async () => {
  const opened = await openOwnDatabase();
  database = opened.database;
  return opened.close;
});

let orgs: TwoOrgs;
/** The org of the caller, and another one. */
let ours: GuardPlace;
let theirs: GuardPlace;
beforeEach(async () => {
  orgs = await createTwoOrgs(database);
  ({ ours, theirs } = orgs);
});

const { give, createDeciding, callerOf, decide, allowed, suspend, label, remove } = decidingIn(() => orgs);

const byId = (value: string, shown?: string) => ({ by: "id", value, ...(shown !== undefined && { shown }) }) as const;

describe("a call on a resource of the caller's org", () => {
  test("is decided by grants there, and hands over ids", async () => {
    await give("starter", { on: { kind: "project", id: ours.web } });
    const { orgName } = ours;
    const answer = await decide(`/orgs/${orgName}/projects/web/a/b`);
    expect(answer).toEqual({ target: expect.anything() as unknown, visible: unlimited });
    expect(answer.target.references).toEqual([byId(ours.orgId, orgName), byId(ours.web, "web")]);
    expect(await allowed(`/orgs/${orgName}/projects/shop`)).toBe(false);
    expect(await allowed(`/orgs/${orgName}`)).toBe(false);
    expect(await allowed(`/orgs/@${ours.orgId}/projects/@${ours.web}`)).toBe(true);
    await expect(decide(`/orgs/${orgName}`)).rejects.toMatchObject({
      message: `the caller lacks the permission ${start} on this resource (or it might not exist)`,
    });
  });

  test("is decided for a narrowed credential by what it leaves", async () => {
    await give("starter");
    const path = `/orgs/${ours.orgName}`;
    expect(await allowed(path, { scopes: ["compute.*"] })).toBe(true);
    expect(await allowed(path, { projectId: ours.web })).toBe(false);
    expect(await allowed(`${path}/projects/web`, { projectId: ours.web })).toBe(true);
    const impersonator = { memberId: ours.bob } as Caller["impersonator"];
    expect(await allowed(path, { impersonator })).toBe(false);
    await expect(decide(path, { scopes: [] })).rejects.toMatchObject({ metadata: { narrowed_by: "scope" } });
  });
});

describe("a call on a resource of another org", () => {
  const paths = () => {
    const org = `/orgs/${theirs.orgName}`;
    return [org, `/orgs/@${theirs.orgId}`, `${org}/members/bob`, `${org}/projects/web`, `${org}/projects/none/a/b`];
  };
  const allowedOn = (all: readonly string[]) => Promise.all(all.map((path) => allowed(path)));
  const all = (answer: boolean) => paths().map(() => answer);

  test("is decided by grants on its customer, and hands over the ids of the org and the project", async () => {
    await give("starter", { on: customerOf(ours) });
    await give("starter", { on: { kind: "project", id: ours.web } });
    expect(await allowedOn(paths())).toEqual(all(false));
    await give("starter", { on: customerOf(theirs) });
    expect(await allowedOn(paths())).toEqual(all(true));
    const { target } = await decide(`/orgs/${theirs.orgName}/projects/web`);
    expect(target.references).toEqual([byId(theirs.orgId, theirs.orgName), byId(theirs.web, "web")]);
    const missing = await decide(`/orgs/${theirs.orgName}/projects/none`);
    expect(missing.target.references[1]).toEqual({ by: "name", value: "none" });
    expect(target.resource).toEqual({ kind: "org", customerId: theirs.customerId, orgId: theirs.orgId });
    expect(await allowed("/orgs/nowhere")).toBe(false);
  });

  test("is denied while the org is suspended, if the caller may not lift that", async () => {
    await give("starter", { on: customerOf(theirs) });
    await suspend("orgs", theirs.orgId);
    expect(await allowedOn(paths())).toEqual(all(false));
    await give("orgLifter", { on: customerOf(theirs) });
    expect(await allowedOn(paths())).toEqual(all(true));
  });

  test("is denied in a suspended project of a suspended org, if the caller may not lift both", async () => {
    await give("starter", { on: customerOf(theirs) });
    await suspend("orgs", theirs.orgId);
    await suspend("projects", theirs.web);
    await give("orgLifter", { on: customerOf(theirs) });
    const isInWeb = (path: string): boolean => path.endsWith("/projects/web");
    expect(await allowedOn(paths())).toEqual(paths().map((path) => !isInWeb(path)));
    await give("lifter", { on: customerOf(theirs) });
    expect(await allowedOn(paths())).toEqual(all(true));
  });

  test("is decided on the suspended org or project itself, for role bindings with conditions", async () => {
    const org = `/orgs/${theirs.orgName}`;
    const [web, content] = [`${org}/projects/web`, `${org}/projects/web/a/b`];
    await give("starter", { on: customerOf(theirs) });
    await suspend("orgs", theirs.orgId);
    await label("orgs", theirs.orgId, { tier: "gold" });
    for (const path of [web, content]) {
      await give("lifter", { on: customerOf(theirs), condition: `resource.path == "${path}"` });
    }
    expect(await allowedOn([org, web, content])).toEqual([false, false, false]);
    await give("orgLifter", { on: customerOf(theirs), condition: 'resource.labels.tier == "gold"' });
    expect(await allowedOn([org, web, content])).toEqual([true, true, true]);
    await suspend("projects", theirs.web);
    expect(await allowedOn([web, content])).toEqual([true, true]);
    await suspend("projects", theirs.shop);
    expect(await allowed(`${org}/projects/shop/a/b`)).toBe(false);
  });

  test("is denied in a suspended project, if the caller may not lift that", async () => {
    await give("starter", { on: customerOf(theirs) });
    await suspend("projects", theirs.web);
    const inWeb = [`projects/web`, `projects/@${theirs.web}`, "projects/web/a/b"].map(
      (below) => `/orgs/${theirs.orgName}/${below}`,
    );
    expect(await allowedOn([...inWeb, `/orgs/${theirs.orgName}/projects/shop`])).toEqual([false, false, false, true]);
    await give("orgLifter", { on: customerOf(theirs) });
    expect(await allowedOn(inWeb)).toEqual([false, false, false]);
    await give("lifter", { on: customerOf(theirs) });
    expect(await allowedOn(inWeb)).toEqual([true, true, true]);
  });

  test.each(["iam.orgs.get", "iam.projects.get"])("may read what is suspended itself, with %s", async (permission) => {
    const { id: roleId } = await give("starter", { on: onPlatform });
    expect(roleId).not.toBe("");
    await suspend(
      permission === "iam.orgs.get" ? "orgs" : "projects",
      theirs[permission === "iam.orgs.get" ? "orgId" : "web"],
    );
    const reading = { ...roles, starter: listed("iam.orgs.get", "iam.projects.get") };
    const snapshots = createSnapshots({
      database,
      readConnections: 4,
      maxBytes: Infinity,
      predefinedRoles: reading,
      compileCondition: compileWithinBudget,
    });
    const evaluator = createAccessEvaluator({ database, ...names, recordUse: () => {}, systemOrgId: "" });
    const { authoriserOf } = createAuthorise(createViewCaller(snapshots, database), evaluator);
    const { decideQuietly } = await authoriserOf(await callerOf(ours), alone);
    const may = async (path: string) =>
      (await decideQuietly(requirement("never", permission), parseTargetPath(path, "path"))) !== undefined;
    const org = `/orgs/${theirs.orgName}`;
    const itself = permission === "iam.orgs.get" ? org : `${org}/projects/web`;
    expect([await may(itself), await may(`${itself}/a/b`), await may(`${itself}/projects`)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test.each([
    ["/orgs/ORG", 'resource.path == "/orgs/ORG"'],
    ["/orgs/@ORGID", 'resource.path == "/orgs/ORG"'],
    ["/orgs/@ORGID/members/bob", 'resource.path == "/orgs/ORG/members/bob"'],
    ["/orgs/@ORGID/projects/@WEB/a/b", 'resource.path == "/orgs/ORG/projects/web/a/b"'],
    ["/orgs/ORG/projects/none", 'resource.path == "/orgs/ORG/projects/none"'],
  ])("shows its conditions the path with names: %s", async (text, expression) => {
    const fill = (written: string) =>
      written
        .replaceAll("@ORGID", `@${theirs.orgId}`)
        .replaceAll("@WEB", `@${theirs.web}`)
        .replaceAll("ORG", theirs.orgName);
    await give("starter", { on: customerOf(theirs), condition: `!(${fill(expression)})` });
    expect(await allowed(fill(text))).toBe(false);
    await give("starter", { on: customerOf(theirs), condition: fill(expression) });
    expect(await allowed(fill(text))).toBe(true);
  });

  test.each([
    ["the labels of the org", "/orgs/ORG", "org"],
    ["the labels of the org, for what is in it", "/orgs/@ORGID/members/bob", "org"],
    ["the labels of the project, not of its org", "/orgs/ORG/projects/web", "web"],
    ["the labels of the project, by its id", "/orgs/@ORGID/projects/@WEB", "web"],
    ["the labels of the project, for what is in it", "/orgs/ORG/projects/@WEB/a/b", "web"],
    ["no labels of a project without any", "/orgs/ORG/projects/shop", undefined],
    ["the labels of the org, in a project that does not exist", "/orgs/ORG/projects/none", "org"],
  ])("shows its conditions %s: %s", async (_title, text, expected) => {
    await label("orgs", theirs.orgId, { of: "org" });
    await label("projects", theirs.web, { of: "web" });
    await label("orgs", ours.orgId, { of: "ours" });
    const path = text
      .replaceAll("@ORGID", `@${theirs.orgId}`)
      .replaceAll("@WEB", `@${theirs.web}`)
      .replaceAll("ORG", theirs.orgName);
    const expression = expected === undefined ? "size(resource.labels) == 0" : `resource.labels.of == "${expected}"`;
    await give("starter", { on: customerOf(theirs), condition: `!(${expression})` });
    expect(await allowed(path)).toBe(false);
    await give("starter", { on: customerOf(theirs), condition: expression });
    expect(await allowed(path)).toBe(true);
  });

  test("shows its conditions the labels as they are now", async () => {
    await give("starter", { on: customerOf(theirs), condition: '!("restricted" in resource.labels)' });
    const { authorise } = createDeciding();
    const path = parseTargetPath(`/orgs/${theirs.orgName}/projects/web`, "path");
    const mayNow = async () =>
      (await (await authorise.authoriserOf(await callerOf(ours), alone)).decideQuietly(requirement(), path)) !==
      undefined;
    expect(await mayNow()).toBe(true);
    await label("projects", theirs.web, { restricted: "yes" });
    expect(await mayNow()).toBe(false);
    await label("projects", theirs.web, {});
    expect(await mayNow()).toBe(true);
  });

  test("finds several orgs and projects at once, each with its labels", async () => {
    await label("orgs", theirs.orgId, { restricted: "yes" });
    await label("projects", theirs.shop, { restricted: "yes" });
    await give("starter", { on: onPlatform, condition: '!("restricted" in resource.labels)' });
    const org = `/orgs/${theirs.orgName}`;
    const asked = [org, `${org}/projects/web`, `${org}/projects/shop`, `${org}/projects/none`, "/orgs/nowhere"];
    const { authorise } = createDeciding();
    const { decideQuietly } = await authorise.authoriserOf(await callerOf(ours), alone);
    const decided = asked.map((path) => decideQuietly(requirement(), parseTargetPath(path, "path")));
    const found = (await Promise.all(decided)).map((answer) => answer !== undefined);
    expect(found).toEqual([false, true, false, false, false]);
  });

  test("does not meet a condition where there is no path: an unknown id, a deleted org or project", async () => {
    await give("starter", { on: customerOf(theirs), condition: 'resource.path != ""' });
    const org = `/orgs/@${theirs.orgId}`;
    const unknown = [`${org}/members/@${theirs.bob}`, `${org}/projects/@${ours.web}`];
    expect(await allowedOn(unknown)).toEqual([false, false]);
    expect(await allowedOn([`${org}/projects/@${theirs.web}`, org])).toEqual([true, true]);
    await remove("projects", theirs.web);
    expect(await allowedOn([`${org}/projects/@${theirs.web}`, org])).toEqual([false, true]);
    await remove("orgs", theirs.orgId);
    expect(await allowed(org)).toBe(false);
    await give("starter", { on: customerOf(theirs) });
    expect(await allowed(org)).toBe(true);
  });
});

describe("a call above orgs", () => {
  test("on a customer is decided by grants there", async () => {
    const { customerId: id } = theirs;
    const name = theirs.orgName;
    const paths = [`/customers/@${id}`, `/customers/${name}`, `/customers/${name}/roleBindings/one`];
    const answers = () => Promise.all(paths.map((path) => allowed(path)));
    await give("starter", { on: customerOf(ours) });
    expect(await answers()).toEqual([false, false, false]);
    await give("starter", { on: customerOf(theirs), condition: `resource.path == "/customers/${name}"` });
    expect(await answers()).toEqual([true, true, true]);
    expect(await allowed("/customers/nowhere")).toBe(false);
    const { target } = await decide(`/customers/${name}`);
    expect(target).toMatchObject({ pattern: patterns.Customer, references: [byId(id, name)] });
    expect(target.resource).toEqual({ kind: "customer", customerId: id });
    await remove("customers", id);
    expect(await allowed(`/customers/@${id}`)).toBe(false);
  });

  test("on a service, or what is in it, is decided by grants there", async () => {
    const { name } = await database.reads
      .selectFrom("services")
      .select("name")
      .where("id", "=", theirs.service)
      .executeTakeFirstOrThrow();
    const paths = [`/services/@${theirs.service}`, `/services/${name}`, `/services/${name}/regions/eu`];
    const answers = () => Promise.all(paths.map((path) => allowed(path)));
    await give("starter", { on: { kind: "service", id: ours.service } });
    expect(await answers()).toEqual([false, false, false]);
    const on = { kind: "service", id: theirs.service } as const;
    await give("starter", { on, condition: `resource.path == "/services/${name}/regions/eu"` });
    expect(await answers()).toEqual([false, false, true]);
    await give("starter", { on, condition: `resource.path == "/services/${name}"` });
    expect(await answers()).toEqual([true, true, true]);
    expect(await allowed("/services/nowhere")).toBe(false);
    const { target } = await decide(`/services/${name}`);
    expect(target).toMatchObject({ pattern: patterns.Service, references: [byId(theirs.service, name)] });
    expect(target.resource).toEqual({ kind: "service", serviceId: theirs.service });
  });

  test("on the platform is decided by grants there, which count everywhere without a lookup", async () => {
    const paths = ["", "/roles/owner", "/customers/nowhere", "/services/nowhere"];
    const answers = () => Promise.all(paths.map((path) => allowed(path)));
    await give("starter", { on: customerOf(ours) });
    expect(await answers()).toEqual([false, false, false, false]);
    await give("starter", { on: onPlatform });
    expect(await answers()).toEqual([true, true, true, true]);
    // An org may be suspended, so it is looked up unless that does not matter.
    expect(await allowed("/orgs/nowhere")).toBe(false);
    expect(await allowed(`/orgs/${theirs.orgName}`)).toBe(true);
    await give("lifter", { on: onPlatform });
    expect(await allowed("/orgs/nowhere")).toBe(true);
    const { target } = await decide("/orgs/nowhere/a/b");
    // It leads nowhere, also if the name is given meanwhile.
    expect(target).toMatchObject({ pattern: patterns.Org, references: [{ by: "id", shown: "nowhere" }] });
    expect(target.resource).toEqual({ kind: "platform" });
    expect(() => target.path()).toThrow("only for one resource with a name");
  });
});

test("several paths are all decided, and the first that is denied is explained", async () => {
  const { authorise } = createDeciding();
  const all = async (...paths: string[]) =>
    createDeciding().authorise.all(
      await callerOf(ours),
      start,
      { paths: paths.map((path) => parseTargetPath(path, "path")), orgs: () => [] },
      alone,
    );
  await all();
  await give("starter", { on: { kind: "project", id: ours.web } });
  const web = `/orgs/${ours.orgName}/projects/web`;
  await all(web, `${web}/a/b`);
  await expect(all(web, `/orgs/${ours.orgName}/projects/shop`)).rejects.toMatchObject(denied);
  await give("starter", { on: onPlatform });
  await expect(all("/orgs/nowhere")).rejects.toMatchObject(denied);
  await give("lifter", { on: onPlatform });
  await all("/orgs/nowhere");
  expect(
    await (
      await authorise.authoriserOf(await callerOf(ours), alone)
    ).decideQuietly(requirement(), parseTargetPath("", "")),
  ).toBeDefined();
});

test("an authoriser decides several times about one caller", async () => {
  await give("starter", { on: { kind: "project", id: ours.web } });
  const { decide: decideOn, decideQuietly } = await createDeciding().authorise.authoriserOf(
    await callerOf(ours),
    alone,
  );
  const [web, shop] = ["web", "shop"].map((name) =>
    parseTargetPath(`/orgs/${ours.orgName}/projects/${name}`, "path"),
  ) as [ReturnType<typeof parseTargetPath>, ReturnType<typeof parseTargetPath>];
  expect(await decideQuietly(requirement(), shop)).toBeUndefined();
  expect(await decideQuietly(requirement(), web)).toHaveProperty("target");
  expect(await decideOn(requirement(), web)).toHaveProperty("target");
  await expect(decideOn(requirement(), shop)).rejects.toMatchObject(denied);
});

test("a decision waits for its slice when short calls have taken long", async () => {
  await give("starter");
  let ms = 0;
  const { authorise } = createDeciding();
  const caller = await callerOf(ours);
  const path = parseTargetPath(`/orgs/${ours.orgName}`, "path");
  // From here on, the snapshot is in memory, so that a decision waits for nothing else.
  await authorise(caller, requirement(), path, alone);
  const slices = createTimeSlices({ clock: () => (ms += 100) });
  const ofCall = (): CallSlices => slices.ofCall({ orgId: caller.orgId, length: "short" });
  const order: string[] = [];
  const others = new Promise<void>((resolve) => {
    setImmediate(() => {
      order.push("others");
      resolve();
    });
  });
  void ofCall().next();
  const decided = authorise(caller, requirement(), path, ofCall()).then(() => order.push("decision"));
  await Promise.all([others, decided]);
  expect(order).toEqual(["others", "decision"]);
});

test("a denial is explained only while its client waits, so that changes of the org do not wait for it", async () => {
  await give("explainer");
  for (const member of [ours.alice, ours.bob]) await ours.bind({ role: "binder", to: { member } });
  const leaving = new AbortController();
  let steps = 0;
  const { authorise } = createDeciding();
  const [caller, path] = [await callerOf(ours), parseTargetPath(`/orgs/${ours.orgName}`, "path")];
  const timeSlices = createTimeSlices({ clock: () => 0 });
  const decideIn = (signal: AbortSignal, onStep: () => void) => {
    const { next } = timeSlices.ofCall({ orgId: caller.orgId, length: "long", signal });
    const nextOfSteps = () => {
      onStep();
      return next();
    };
    return authorise(caller, requirement(), path, createCallSlices(next, nextOfSteps));
  };
  const leave = (): void => {
    steps++;
    leaving.abort(new Error("the client has left"));
  };
  await expect(decideIn(leaving.signal, leave)).rejects.toThrow("the client has left");
  expect(steps).toBe(1);
  await expect(decideIn(new AbortController().signal, () => steps++)).rejects.toMatchObject(denied);
  expect(steps).toBe(3);
});
