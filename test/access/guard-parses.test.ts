// Tests which conditions the guard parses when a name or a label changes: its org is locked meanwhile, and may have thousands of long ones.
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { GrantScope } from "../../src/access/escalation/guard-types.ts";
import type { Author } from "../../src/changes/author.ts";
import type { Database } from "../../src/database/database.ts";
import { openOwnDatabase } from "../support/test-database.ts";
import { type GuardPlace, type PlacedBinding, createGuardPlace } from "./guard-place.ts";
import { grantsIn, roles, start } from "./guard-roles.ts";

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
const bindBob = (condition: string, more: Partial<PlacedBinding> = {}) =>
  place.bind({ role: "starter", to: { member: place.bob }, condition, ...more });
const relabelWeb = (author: Partial<Author> | "service" = {}) =>
  place.ask(author, (guard, transaction) => guard.requireMayRelabel(transaction, webScope(), {}, { env: "dev" }));
const renameWeb = (author: Partial<Author> | "service" = {}) =>
  place.ask(author, (guard, transaction) =>
    guard.requireMayRename(transaction, { type: "Project", id: place.web, scope: webScope() }),
  );
const renameBob = () => renameIn("Member", place.bob, orgScope());
const renameOrg = () => renameIn("Org", place.orgId, orgScope());
const renameIn = (type: "Member" | "Org", id: string, scope: GrantScope) =>
  place.ask({}, (guard, transaction) => guard.requireMayRename(transaction, { type, id, scope }));

const tooMuch = { reason: "GRANT_EXCEEDS_OWN", metadata: { permission: start } };
const readingLabel = 'resource.labels.env == "dev"';
const readingPath = 'resource.path == "/orgs/x"';
const readingSubject = 'subject.path == "/orgs/x"';

test("none if the author is exempt, on each scope where it matters", async () => {
  for (const condition of [readingLabel, readingPath, readingSubject]) {
    for (const on of [webScope(), shopScope(), orgScope()]) await bindBob(condition, { on });
  }
  for (const role of ["granter", "revoker"]) await give(role, { on: webScope() });
  await relabelWeb();
  await renameWeb();
  expect(place.parsed).toEqual([]);
  await expect(renameOrg()).rejects.toMatchObject(tooMuch);
  const parsed = place.parsed.length;
  for (const role of ["granter", "revoker"]) await give(role);
  await renameOrg();
  await renameBob();
  expect(place.parsed).toHaveLength(parsed);
});

test("none for the service itself, or if the author holds what all conditions guard", async () => {
  for (const condition of [readingLabel, readingPath]) await bindBob(condition);
  await relabelWeb("service");
  await renameWeb("service");
  await give("starter");
  await relabelWeb();
  await renameWeb();
  expect(place.parsed).toEqual([]);
});

test("what the author holds must be each role on each scope, of which many conditions guard the same", async () => {
  const unbind = (id: string) => database.writes.deleteFrom("role_bindings").where("id", "=", id).execute();
  const refused = { reason: "GRANT_EXCEEDS_OWN" };
  for (const on of [webScope(), shopScope()]) {
    for (const role of ["starter", "reader"]) {
      for (const condition of [readingPath, `!(${readingPath})`]) await bindBob(condition, { role, on });
    }
  }
  const held = [webScope(), shopScope()].flatMap((on) => ["starter", "reader"].map((role) => ({ role, on })));
  for (const lacking of held) {
    const given = [];
    for (const each of held) if (each !== lacking) given.push(await give(each.role, { on: each.on }));
    await expect(renameOrg()).rejects.toMatchObject(refused);
    for (const { id } of given) await unbind(id);
  }
  for (const { role, on } of held) await give(role, { on });
  await renameOrg();
});

test("an exemption does not count with a narrowed credential, and nothing is refused if no condition reads what changes", async () => {
  for (const role of ["granter", "revoker"]) await give(role);
  const author = { narrowing: { scopes: undefined, projectId: undefined } };
  await bindBob("context.resource.a");
  await relabelWeb(author);
  await renameWeb(author);
  await bindBob(readingLabel);
  await renameWeb(author);
  await expect(relabelWeb(author)).rejects.toMatchObject({
    message: "with a narrowed API key or token, nobody can pass on access or create API keys",
  });
});

test("none that do not name what holds the name or label", async () => {
  for (const condition of ["context.vip", "context.labels.env == context.path", 'subject.type == "member"']) {
    await bindBob(condition);
  }
  await relabelWeb();
  await renameWeb();
  expect(place.parsed).toEqual([]);
  await bindBob(readingPath, { on: shopScope() });
  await expect(renameBob()).rejects.toMatchObject(tooMuch);
  expect(place.parsed.toSorted()).toEqual([readingPath, 'subject.type == "member"']);
});

test("each once, whatever changes and however often", async () => {
  const conditions = ["a", "b", "c", "d", "e"].map((key) => `context.resource.${key}`);
  for (const condition of conditions) await bindBob(condition);
  for (const condition of conditions) await bindBob(condition, { on: webScope() });
  await relabelWeb();
  await relabelWeb();
  await renameWeb();
  expect(place.parsed.toSorted()).toEqual(conditions);
});

test.each([
  'resource["labels"].env == "dev"',
  'resource["labels"]["env"] == "dev"',
  'resource["lab\\u0065ls"]["\\x65nv"] == "dev"',
  'resource.labels["\\x65nv"] == "dev"',
  'resource.labels["e" + "nv"] == "dev"',
  'resource.labels[context.key] == "dev"',
  '"\\145nv" in resource.labels',
  '.resource . labels\n. env == "dev"',
  'resource // a comment\n.labels // another\n.env == "dev"',
  "[resource] == context.list",
  "(context.vip ? resource : context.other) == context.other",
  "[resource].exists(each, each.labels.env == 'dev')",
  '{"a": resource}["a"].labels.env == "dev"',
  'resource.labels.env == "dev" and resource',
])("%s keeps those from changing the label who do not hold what it guards", async (condition) => {
  await bindBob(condition);
  await expect(relabelWeb()).rejects.toMatchObject(tooMuch);
  await give("starter");
  await relabelWeb();
});
