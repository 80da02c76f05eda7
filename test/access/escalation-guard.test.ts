// Tests what the author of a change must hold to pass on access, by asking the guard itself, on a real database. What it must hold to take
// access away: guard-revocations.test.ts; to change names and labels: guard-renames.test.ts. Over the API, where every method that changes
// access asks it: escalation.test.ts, taking-away.test.ts and described.test.ts.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { GrantScope } from "../../src/access/escalation/guard-types.ts";
import { unlimitedWay } from "../../src/access/escalation/require-within.ts";
import type { Author } from "../../src/changes/author.ts";
import type { Database } from "../../src/database/database.ts";
import { addApiKey } from "../database/sample-rows.ts";
import { openOwnDatabase } from "../support/test-database.ts";
import { type GuardPlace, createGuardPlace } from "./guard-place.ts";
import { exceeds, grantsIn, inHours, roles, start, stop } from "./guard-roles.ts";

let database: Database;
beforeAll(async () => {
  const opened = await openOwnDatabase();
  database = opened.database;
  return opened.close;
});

let place: GuardPlace;
beforeEach(async () => {
  place = await createGuardPlace(database, roles);
});

const { give, orgScope, shopScope, webScope } = grantsIn(() => place);

const grant = (role: string, scope = orgScope(), author: Partial<Author> | "service" = {}) =>
  place.ask(author, (guard, transaction) =>
    guard.requireMayGrant(transaction, [{ role: { predefined: role }, scope }]),
  );

const grantRule =
  "to grant a role, the caller must hold every permission of the role on the same resource: the caller lacks";
const lacksStart = exceeds(`${grantRule} ${start}`, start);

describe("to grant a role, an author must hold it", () => {
  test("where it is granted, or above", async () => {
    await expect(grant("starter")).rejects.toMatchObject(lacksStart);
    await give("starter");
    await grant("starter");
    await grant("starter", webScope());
    await expect(grant("starter", { kind: "customer", id: place.customerId })).rejects.toMatchObject(lacksStart);
    await expect(grant("starter", { kind: "platform", id: "" })).rejects.toMatchObject(lacksStart);
  });

  test.each(["platform", "customer", "org", "project"] as const)("on the %s, and not above", async (kind) => {
    const scopes: GrantScope[] = [
      { kind: "platform", id: "" },
      { kind: "customer", id: place.customerId },
      orgScope(),
      webScope(),
    ];
    const held = scopes.findIndex((scope) => scope.kind === kind);
    const [on] = scopes.slice(held);
    await give("starter", on && { on });
    for (const scope of scopes.slice(0, held)) await expect(grant("starter", scope)).rejects.toMatchObject(lacksStart);
    for (const scope of scopes.slice(held)) await grant("starter", scope);
    const service = grant("starter", { kind: "service", id: place.service });
    await (kind === "platform" ? service : expect(service).rejects.toMatchObject(lacksStart));
  });

  test("on the service, and on no other one", async () => {
    const service: GrantScope = { kind: "service", id: place.service };
    await give("starter", { on: service });
    await grant("starter", service);
    const others: GrantScope[] = [{ kind: "service", id: place.web }, { kind: "platform", id: "" }, orgScope()];
    for (const scope of others) await expect(grant("starter", scope)).rejects.toMatchObject(lacksStart);
  });

  test("now and without an end or a condition", async () => {
    await give("starter", { condition: "true" });
    await give("starter", { on: webScope(), expireTime: inHours(1) });
    await give("starter", { on: shopScope(), startTime: inHours(1) });
    for (const scope of [orgScope(), webScope(), shopScope()])
      await expect(grant("starter", scope)).rejects.toMatchObject(lacksStart);
    await give("starter", { startTime: inHours(-1) });
    await grant("starter");
  });

  test("through groups, unless the membership ends", async () => {
    await place.bind({ role: "starter", to: { group: place.outer } });
    await expect(grant("starter")).rejects.toMatchObject(lacksStart);
    await place.join(place.inner, place.alice);
    await grant("starter");
    await place.join(place.outer, place.bob, inHours(1));
    await expect(grant("starter", orgScope(), { actorId: place.bob })).rejects.toMatchObject(lacksStart);
  });

  test("or the permission to grant what it does not hold, there", async () => {
    await give("granter", { on: webScope() });
    await grant("owner", webScope());
    await expect(grant("starter")).rejects.toMatchObject(lacksStart);
    await give("revoker");
    await expect(grant("starter")).rejects.toMatchObject(lacksStart);
  });

  test("or be the service", async () => {
    await grant("owner", { kind: "platform", id: "" }, "service");
    await grant("owner", orgScope(), { actorOrgId: null });
    await grant("owner", orgScope(), { actorId: null });
  });

  test("with a credential that counts it", async () => {
    const { id: credentialId } = await addApiKey(database, { id: place.orgId }, { id: place.alice }, "limited");
    const head = () => database.reads.selectFrom("orgs").select("revision").where("id", "=", place.orgId);
    const { revision: grantsUntil } = await head().executeTakeFirstOrThrow();
    await database.writes
      .updateTable("api_keys")
      .set({ grants_until: grantsUntil })
      .where("id", "=", credentialId)
      .execute();
    const author = { grantsUntil, origin: { ...noOrigin, credentialId } };
    await expect(grant("starter", orgScope(), author)).rejects.toMatchObject(lacksStart);
  });

  test("with a credential that is not narrowed", async () => {
    await give("owner");
    const narrowing = { scopes: undefined, projectId: undefined };
    await expect(grant("starter", orgScope(), { narrowing })).rejects.toMatchObject({
      reason: "GRANT_EXCEEDS_OWN",
      message: "with a narrowed API key or token, nobody can pass on access or create API keys",
    });
  });

  test("and learns which permissions it lacks, five by name", async () => {
    await expect(grant("six")).rejects.toMatchObject(
      exceeds(
        `${grantRule} ${start}, ${stop}, compute.disks.verb1, compute.disks.verb2, compute.disks.verb3 and 1 more`,
        start,
      ),
    );
    await give("starter");
    await expect(grant("six")).rejects.toMatchObject(
      exceeds(
        `${grantRule} ${stop}, compute.disks.verb1, compute.disks.verb2, compute.disks.verb3, compute.disks.verb4`,
        stop,
      ),
    );
    await expect(grant("seven")).rejects.toMatchObject({ message: expect.stringMatching(/ and 1 more$/) as string });
  });

  test.each([
    ["owner", "* (every permission)", "*"],
    ["reader", "every permission to get of other services", "*.*.get"],
    ["writer", "every permission of other services", "*.*.*"],
  ])("and learns it in words for a wildcard: %s", async (role, words, permission) => {
    await expect(grant(role)).rejects.toMatchObject(exceeds(`${grantRule} ${words}`, permission));
  });

  test("which is so for custom roles, too, and a role that does not exist has no permissions", async () => {
    const { roleId } = await place.bind({ role: [start], to: { member: place.bob } });
    const grantCustom = (id: string) =>
      place.ask({}, (guard, transaction) =>
        guard.requireMayGrant(transaction, [
          { role: { predefined: "unknown" }, scope: orgScope() },
          { role: { id }, scope: orgScope() },
        ]),
      );
    await expect(grantCustom(roleId ?? "")).rejects.toMatchObject(lacksStart);
    await grantCustom(place.web);
    await give("starter");
    await grantCustom(roleId ?? "");
  });

  test("of many roles, each", async () => {
    await give("starter");
    const grants = [
      ...Array.from({ length: 450 }, () => ({ role: { predefined: "starter" }, scope: webScope() })),
      { role: { predefined: "owner" }, scope: orgScope() },
    ];
    const granting = (count: number) =>
      place.ask({}, (guard, transaction) => guard.requireMayGrant(transaction, grants.slice(0, count)));
    await granting(450);
    await expect(granting(451)).rejects.toMatchObject({ reason: "GRANT_EXCEEDS_OWN", metadata: { permission: "*" } });
  });
});

const noOrigin = {
  credentialId: null,
  requestId: null,
  remoteAddress: null,
  userAgent: null,
  reason: null,
  onBehalfOf: null,
};

describe("an author must hold", () => {
  test("on the org what it adds to a role", async () => {
    const define = (...permissions: string[]) =>
      place.ask({}, (guard, transaction) => guard.requireMayDefine(transaction, permissions));
    await give("starter", { on: webScope() });
    await expect(define(start)).rejects.toMatchObject(
      exceeds(`to add permissions to a role, the caller must hold them on the org: the caller lacks ${start}`, start),
    );
    await give("starter");
    await define(start);
    await expect(define(start, stop)).rejects.toMatchObject({ metadata: { permission: stop } });
  });

  test("what a group holds, and the groups in which it is nested, to add to it", async () => {
    const join = (...groups: string[]) =>
      place.ask({}, (guard, transaction) => guard.requireMayJoin(transaction, groups));
    await join(place.inner, place.outer);
    await place.bind({ role: "starter", to: { group: place.outer }, on: webScope(), condition: "true" });
    const refused = exceeds(
      `to add to a group, the caller must hold every permission that the group holds: the caller lacks ${start}`,
      start,
    );
    for (const group of [place.inner, place.outer]) await expect(join(group)).rejects.toMatchObject(refused);
    await give("starter", { on: webScope() });
    await join(place.inner);
    await place.bind({ role: [stop], to: { group: place.inner } });
    await join(place.outer);
    await expect(join(place.inner)).rejects.toMatchObject({ metadata: { permission: stop } });
    await join();
  });

  test("what bindings grant later, and not what they no longer grant", async () => {
    const join = () => place.ask({}, (guard, transaction) => guard.requireMayJoin(transaction, [place.inner]));
    await place.bind({ role: "starter", to: { group: place.inner }, expireTime: inHours(-1) });
    await join();
    await place.bind({ role: "starter", to: { group: place.inner }, startTime: inHours(1), expireTime: inHours(2) });
    await expect(join()).rejects.toMatchObject({ metadata: { permission: start } });
  });

  const actAs = (member: string, grantsUntil: string | null = null, author: Partial<Author> = {}) =>
    place.ask(author, (guard, transaction) => guard.requireMayActAs(transaction, member, grantsUntil));
  const actRule =
    "to create, change or confirm an API key of another member, or to create its identities, the caller must hold every permission that the member holds: the caller lacks";

  test("what a member holds, by itself or through groups, to make its API keys", async () => {
    await actAs(place.bob);
    await place.bind({ role: "starter", to: { member: place.bob } });
    await expect(actAs(place.bob)).rejects.toMatchObject(exceeds(`${actRule} ${start}`, start));
    await give("starter");
    await actAs(place.bob);
    await place.bind({ role: [stop], to: { group: place.outer } });
    await place.join(place.outer, place.bob, inHours(-1));
    await actAs(place.bob);
    await place.join(place.inner, place.bob);
    await expect(actAs(place.bob)).rejects.toMatchObject({ metadata: { permission: stop } });
  });

  test("nothing to make its own, with the same limit or none", async () => {
    await give("starter", { condition: "false" });
    await actAs(place.alice);
    await actAs(place.alice, "4");
    const limited = { grantsUntil: "00000000-0000-7000-8000-000000000004" };
    await actAs(place.alice, limited.grantsUntil, limited);
    await expect(actAs(place.alice, null, limited)).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
    const narrowing = { scopes: undefined, projectId: undefined };
    await expect(actAs(place.alice, null, { narrowing })).rejects.toMatchObject({
      message: "with a narrowed API key or token, nobody can pass on access or create API keys",
    });
  });
});

describe("an owner of the org", () => {
  const isOwner = (author: Partial<Author> | "service" = {}) =>
    place.ask(author, (guard, transaction) => guard.isOwner(transaction));

  test("holds everything on the org, or above it, without a condition or an end", async () => {
    expect([await isOwner("service"), await isOwner()]).toEqual([true, false]);
    await give("owner", { on: webScope() });
    await give("owner", { condition: "true" });
    await give("owner", { expireTime: inHours(1) });
    await give("starter");
    expect(await isOwner()).toBe(false);
    await give("owner", { on: { kind: "customer", id: place.customerId } });
    expect(await isOwner()).toBe(true);
  });

  test("with a credential that is neither limited nor narrowed", async () => {
    await give("owner");
    expect(await isOwner()).toBe(true);
    expect(await isOwner({ grantsUntil: "1" })).toBe(false);
    expect(await isOwner({ narrowing: { scopes: undefined, projectId: undefined } })).toBe(false);
  });

  const giveAll = {
    confirms: {
      call: (member: string, author: Partial<Author> = {}) =>
        place.ask(author, (guard, transaction) => guard.requireMayConfirm(transaction, member, unlimitedWay)),
      rule: "an API key is confirmed by its member or by an owner of the org, with an API key that is not limited itself",
    },
    links: {
      call: (member: string, author: Partial<Author> = {}) =>
        place.ask(author, (guard, transaction) => guard.requireMayLink(transaction, member)),
      rule: "an identity is created by its member or by an owner of the org, with a credential that is neither limited nor narrowed",
    },
  };
  test.each(Object.entries(giveAll))("%s for others, as the member itself does", async (_name, { call, rule }) => {
    const refused = { reason: "GRANT_EXCEEDS_OWN", message: rule, metadata: { role: "/roles/owner" } };
    await give("starter");
    await call(place.alice);
    await expect(call(place.alice, { grantsUntil: "1" })).rejects.toMatchObject(refused);
    await expect(call(place.bob)).rejects.toMatchObject(refused);
    await give("owner");
    await call(place.bob);
    // Even an owner does not act as who holds more than it.
    await place.bind({ role: "starter", to: { member: place.bob }, on: { kind: "platform", id: "" } });
    await expect(call(place.bob)).rejects.toMatchObject({ metadata: { permission: start } });
  });
});
