// Tests what the author of a change must hold to take access away, by asking the guard itself, on a real database. Over the API:
// taking-away.test.ts.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Revocation } from "../../src/access/escalation/guard-types.ts";
import type { Author } from "../../src/changes/author.ts";
import type { Database } from "../../src/database/database.ts";
import { openOwnDatabase } from "../support/test-database.ts";
import { type GuardPlace, createGuardPlace } from "./guard-place.ts";
import { grantsIn, inHours, revokeUnheld, roles, start, stop } from "./guard-roles.ts";

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

const { give, orgScope } = grantsIn(() => place);

const revoke = (revocation: Revocation, author: Partial<Author> | "service" = {}) =>
  place.ask(author, (guard, transaction) => guard.requireMayRevoke(transaction, [revocation]));

const takes = (what: string, permission: string, where: string, resource = where) => ({
  reason: "REVOKE_EXCEEDS_OWN",
  message: `this would take away ${what} on ${where}: the caller must hold it there itself, without a condition or an expire time, or hold ${revokeUnheld}`,
  metadata: { permission, resource, required_permission: revokeUnheld },
});
const takesStart = () => takes(start, start, `/orgs/${place.orgName}`);

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
