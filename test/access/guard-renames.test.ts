// Tests what the author of a change must hold to change names and labels that conditions read, by asking the guard itself, on a real
// database. Over the API: described.test.ts.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { GrantScope } from "../../src/access/escalation/guard-types.ts";
import type { Database } from "../../src/database/database.ts";
import { addOrg } from "../database/sample-rows.ts";
import { uniqueName } from "../support/api.ts";
import { openOwnDatabase } from "../support/test-database.ts";
import { type GuardPlace, type PlacedBinding, createGuardPlace } from "./guard-place.ts";
import { exceeds, grantsIn, inHours, roles, start } from "./guard-roles.ts";

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

  test("of a member: what it holds without a condition does not count", async () => {
    await bindBob("");
    await rename("Member", place.bob, orgScope());
    await bindBob('subject.path == "/orgs/x/members/bob"');
    await expect(rename("Member", place.bob, orgScope())).rejects.toMatchObject(nameRule);
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
    for (const key of ["a", "b", "c", "d", "e"]) await bindBob(`context.resource.${key}`);
    await rename("Project", place.web, webScope());
    await bindBob(readingPath, { on: webScope() });
    await expect(rename("Project", place.web, webScope())).rejects.toMatchObject(nameRule);
  });
});
