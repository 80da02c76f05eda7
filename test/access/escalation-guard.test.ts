// Tests what the author of a change must hold, by asking the guard itself, on a real database. Over the API, where every method
// that changes access asks it: escalation.test.ts, taking-away.test.ts and described.test.ts.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { GrantScope, Revocation } from "../../src/access/escalation/guard-types.ts";
import type { Author } from "../../src/changes/author.ts";
import type { Database } from "../../src/database/database.ts";
import { addApiKey, addOrg } from "../database/sample-rows.ts";
import { uniqueName } from "../support/api.ts";
import { openOwnDatabase } from "../support/test-database.ts";
import { type GuardPlace, type PlacedBinding, createGuardPlace } from "./guard-place.ts";

const [start, stop] = ["compute.instances.start", "compute.instances.stop"] as const;
const [grantUnheld, revokeUnheld] = ["iam.roleBindings.grantUnheld", "iam.roleBindings.revokeUnheld"] as const;

const listed = (...permissions: string[]) => ({ permissions });
const roles = {
  owner: { permissions: "*" },
  starter: listed(start),
  seven: listed(start, stop, ...[1, 2, 3, 4, 5].map((number) => `compute.disks.verb${number}`)),
  six: listed(start, stop, ...[1, 2, 3, 4].map((number) => `compute.disks.verb${number}`)),
  reader: listed("*.*.get"),
  writer: listed("*.*.*"),
  granter: listed(grantUnheld),
  revoker: listed(revokeUnheld),
} as const;

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

const hour = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * hour);

/** Binds a role to alice. */
const give = (role: PlacedBinding["role"], more: Partial<PlacedBinding> = {}) =>
  place.bind({ role, to: { member: place.alice }, ...more });

const orgScope = (): GrantScope => ({ kind: "org", id: place.orgId });
const shopScope = (): GrantScope => ({ kind: "project", id: place.shop });
const webScope = (): GrantScope => ({ kind: "project", id: place.web });

const grant = (role: string, scope = orgScope(), author: Partial<Author> | "service" = {}) =>
  place.ask(author, (guard, transaction) =>
    guard.requireMayGrant(transaction, [{ role: { predefined: role }, scope }]),
  );

const revoke = (revocation: Revocation, author: Partial<Author> | "service" = {}) =>
  place.ask(author, (guard, transaction) => guard.requireMayRevoke(transaction, [revocation]));

const exceeds = (message: string, permission: string) => ({
  reason: "GRANT_EXCEEDS_OWN",
  message,
  metadata: { permission },
});

const grantRule =
  "to grant a role, the caller must hold every permission of the role on the same resource: the caller lacks";
const lacksStart = exceeds(`${grantRule} ${start}`, start);

const takes = (what: string, permission: string, where: string, resource = where) => ({
  reason: "REVOKE_EXCEEDS_OWN",
  message: `this would take away ${what} on ${where}: the caller must hold it there itself, without a condition or an expire time, or hold ${revokeUnheld}`,
  metadata: { permission, resource, required_permission: revokeUnheld },
});
const takesStart = () => takes(start, start, `/orgs/${place.orgName}`);

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
        place.ask(author, (guard, transaction) => guard.requireMayConfirm(transaction, member)),
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

describe("to take access away, an author must hold it", () => {
  test("if a member loses it, by itself or through groups", async () => {
    const ofBob = { kind: "member", memberId: "" } as const;
    const take = (author: Partial<Author> | "service" = {}) => revoke({ ...ofBob, memberId: place.bob }, author);
    await take();
    await place.bind({ role: "starter", to: { group: place.outer } });
    await place.join(place.inner, place.bob);
    await expect(take()).rejects.toMatchObject(takesStart());
    await take("service");
    await give("granter");
    await expect(take()).rejects.toMatchObject(takesStart());
    await give("starter");
    await take();
    await place.bind({ role: [stop], to: { member: place.bob } });
    await expect(take()).rejects.toMatchObject(takes(stop, stop, `/orgs/${place.orgName}`));
    await give("revoker");
    await take();
  });

  test("if a group loses it", async () => {
    const take = (memberId: string | null) => revoke({ kind: "group", groupId: place.inner, memberId });
    await take(null);
    await place.bind({ role: "starter", to: { group: place.outer } });
    for (const memberId of [null, place.bob]) await expect(take(memberId)).rejects.toMatchObject(takesStart());
    await take(place.alice);
  });

  test.each([
    ["platform", "", "the platform", "/"],
    ["customer", "id", "/customers/@id", undefined],
    ["service", "id", "/services/@id", undefined],
    ["org", "id", "/orgs/name", undefined],
    ["project", "id", "/orgs/name/projects/@id", undefined],
  ] as const)("on the %s", async (kind, _id, where, resource) => {
    const ids = {
      platform: "",
      customer: place.customerId,
      service: place.service,
      org: place.orgId,
      project: place.web,
    };
    const scope = { kind, id: ids[kind] };
    const path = where.replace("@id", `@${ids[kind]}`).replace("/name", `/${place.orgName}`);
    const take = (memberId: string | null) =>
      revoke({ kind: "role", role: { predefined: "starter" }, scope, memberId });
    await expect(take(null)).rejects.toMatchObject(takes(start, start, path, resource));
    await expect(take(place.bob)).rejects.toMatchObject(takes(start, start, path, resource));
    await take(place.alice);
    if (kind !== "service") await give("starter", { on: scope });
    else await give("starter", { on: { kind: "platform", id: "" } });
    await take(null);
  });

  test("of a custom role, if anybody else is granted it", async () => {
    const { roleId } = await give([start], { condition: "true" });
    const take = (author: Partial<Author> = {}) =>
      revoke({ kind: "permissions", roleId: roleId ?? "", permissions: [stop], memberId: null }, author);
    await take();
    // A limited API key of the author is perhaps in other hands, and so is one with which somebody impersonates it.
    const narrowing = { scopes: undefined, projectId: undefined, impersonatorId: place.bob };
    const takesStop = takes(stop, stop, `/orgs/${place.orgName}`);
    await expect(take({ narrowing })).rejects.toMatchObject(takesStop);
    await take({ narrowing: { scopes: ["iam.*"], projectId: undefined } });
    await expect(take({ actorId: place.bob })).rejects.toMatchObject(takesStop);
    await give("starter");
    await expect(take({ actorId: place.bob })).rejects.toMatchObject(takesStop);
    const unused = { kind: "permissions", roleId: place.web, permissions: [stop], memberId: null } as const;
    await revoke(unused, { actorId: place.bob });
  });

  test("also if only a group is granted the custom role, and not if the binding has ended", async () => {
    const ended = await place.bind({ role: [start], to: { member: place.bob }, expireTime: inHours(-1) });
    const ofGroup = await place.bind({ role: [start], to: { group: place.inner }, expireTime: inHours(1) });
    const take = ({ roleId }: typeof ended) =>
      revoke({ kind: "permissions", roleId: roleId ?? "", permissions: [stop], memberId: null });
    await take(ended);
    await expect(take(ofGroup)).rejects.toMatchObject({ metadata: { permission: stop } });
  });

  test("while both who is impersonated and who impersonates hold it", async () => {
    await give("starter");
    const take = (impersonatorId: string) =>
      revoke(
        { kind: "role", role: { predefined: "starter" }, scope: orgScope(), memberId: null },
        { narrowing: { scopes: undefined, projectId: undefined, impersonatorId } },
      );
    await expect(take(place.bob)).rejects.toMatchObject(takesStart());
    await place.bind({ role: "starter", to: { member: place.bob } });
    await take(place.bob);
  });

  test("with a limited credential, also if it is the author's own", async () => {
    const limited = { grantsUntil: "00000000-0000-7000-8000-000000000004" };
    const revocation: Revocation = { kind: "member", memberId: place.alice };
    await give("starter");
    await revoke(revocation);
    await expect(revoke(revocation, limited)).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
  });
});

describe("a name or label that conditions read is changed by who holds what they guard", () => {
  const rename = (type: "Project" | "Member" | "Group" | "Org" | "Role", id: string, scope: GrantScope) =>
    place.ask({}, (guard, transaction) => guard.requireMayRename(transaction, { type, id, scope }));
  const relabel = (scope: GrantScope, before: object, after: object) =>
    place.ask({}, (guard, transaction) =>
      guard.requireMayRelabel(transaction, scope, before as Record<string, string>, after as Record<string, string>),
    );
  const nameRule = exceeds(
    `to change a name that conditions read, the caller must hold every permission that these conditions guard: the caller lacks ${start}`,
    start,
  );
  const labelRule = exceeds(
    `to change labels that conditions read, the caller must hold every permission that these conditions guard: the caller lacks ${start}`,
    start,
  );
  const readingPath = 'resource.path == "/orgs/x"';
  const bindBob = (condition: string, more: Partial<PlacedBinding> = {}) =>
    place.bind({ role: "starter", to: { member: place.bob }, condition, ...more });

  test("on a project: bindings there and above count, and those elsewhere do not", async () => {
    const { customer_id: other } = await addOrg(database, uniqueName("other"));
    await bindBob(readingPath, { on: shopScope() });
    await bindBob(readingPath, { on: { kind: "customer", id: other } });
    await bindBob(readingPath, { on: { kind: "service", id: place.service } });
    await bindBob(readingPath, { expireTime: inHours(-1) });
    await bindBob("");
    await bindBob("context.vip");
    await rename("Project", place.web, webScope());
    for (const on of [webScope(), orgScope(), { kind: "customer", id: place.customerId } as const]) {
      const { id } = await bindBob(readingPath, { on });
      await expect(rename("Project", place.web, webScope())).rejects.toMatchObject(nameRule);
      await database.writes.deleteFrom("role_bindings").where("id", "=", id).execute();
    }
    await bindBob(readingPath);
    await give("starter", { on: webScope() });
    await rename("Project", place.web, webScope());
  });

  test("on a customer or service: bindings there count", async () => {
    const scopes = [
      { kind: "customer", id: place.customerId },
      { kind: "service", id: place.service },
    ] as const;
    await bindBob(readingPath);
    for (const scope of scopes) {
      await rename("Role", place.web, scope);
      await bindBob(readingPath, { on: scope });
      await expect(rename("Role", place.web, scope)).rejects.toMatchObject(nameRule);
    }
  });

  test("on an org: bindings in its projects count, and are needed there", async () => {
    await bindBob(readingPath, { on: webScope() });
    await expect(rename("Org", place.orgId, orgScope())).rejects.toMatchObject(nameRule);
    await give("starter", { on: webScope() });
    await rename("Org", place.orgId, orgScope());
  });

  test("of a subject: its bindings count if conditions read the subject", async () => {
    const reading = 'subject.path == "/orgs/x"';
    await bindBob(reading);
    for (const [type, id] of [
      ["Member", place.alice],
      ["Group", place.outer],
      ["Role", place.bob],
      ["Project", place.bob],
    ] as const)
      await rename(type, id, { kind: "project", id: place.outer });
    await expect(rename("Member", place.bob, orgScope())).rejects.toMatchObject(nameRule);
    await expect(rename("Org", place.orgId, orgScope())).rejects.toMatchObject(nameRule);
    await rename("Org", (await addOrg(database, uniqueName("other"))).id, orgScope());
    await place.bind({ role: "starter", to: { group: place.outer }, condition: reading });
    await expect(rename("Group", place.inner, orgScope())).rejects.toMatchObject(nameRule);
    await give("granter");
    await expect(rename("Group", place.inner, orgScope())).rejects.toMatchObject(nameRule);
    await give("revoker");
    await rename("Group", place.inner, orgScope());
  });

  test("of an org: members who hold something without a condition do not count", async () => {
    await bindBob("");
    await bindBob('subject.path == "/orgs/x"', { expireTime: inHours(-1) });
    await rename("Org", place.orgId, orgScope());
  });

  test("labels: only those that change, on the project or the org that has them", async () => {
    const reading = 'resource.labels.env == "dev"';
    await bindBob(reading);
    for (const scope of [webScope(), orgScope()]) {
      await relabel(scope, { env: "dev" }, { env: "dev" });
      await relabel(scope, { env: "dev", a: "1" }, { env: "dev", a: "2", b: "3" });
      for (const [before, after] of [
        [{}, { env: "dev" }],
        [{ env: "dev" }, {}],
        [{ env: "dev" }, { env: "test" }],
        [
          { a: "1", env: "dev" },
          { a: "1", env: "test" },
        ],
      ] as const)
        await expect(relabel(scope, before, after)).rejects.toMatchObject(labelRule);
    }
    await give("starter");
    await relabel(webScope(), {}, { env: "dev" });
  });

  test("with a credential that is not narrowed", async () => {
    await bindBob(readingPath);
    await give("starter");
    const narrowing = { scopes: undefined, projectId: undefined };
    const renaming = place.ask({ narrowing }, (guard, transaction) =>
      guard.requireMayRename(transaction, { type: "Project", id: place.web, scope: webScope() }),
    );
    await expect(renaming).rejects.toMatchObject({
      message: "with a narrowed API key or token, nobody can pass on access or create API keys",
    });
  });

  test("labels of an org do not matter to bindings in its projects, and those above it do", async () => {
    await bindBob('resource.labels.env == "dev"', { on: webScope() });
    await relabel(orgScope(), {}, { env: "dev" });
    await expect(relabel(webScope(), {}, { env: "dev" })).rejects.toMatchObject(labelRule);
    await bindBob('resource.labels.env == "dev"', { on: { kind: "customer", id: place.customerId } });
    await expect(relabel(orgScope(), {}, { env: "dev" })).rejects.toMatchObject(labelRule);
    await give("starter");
    await relabel(orgScope(), {}, { env: "dev" });
  });

  test("many conditions are all read", async () => {
    for (const condition of ["context.a", "context.b", "context.c", "context.d", "context.e"]) await bindBob(condition);
    await rename("Project", place.web, webScope());
    await bindBob(readingPath, { on: webScope() });
    await expect(rename("Project", place.web, webScope())).rejects.toMatchObject(nameRule);
  });
});
