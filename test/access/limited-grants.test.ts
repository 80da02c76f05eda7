import { beforeEach, expect, test } from "vitest";
import type { OrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { allows } from "../../src/access/evaluation/allows.ts";
import { readCounted } from "../../src/access/evaluation/limited-grants.ts";
import { createRequestConditions } from "../../src/access/evaluation/condition-budget.ts";
import { everywhere } from "../../src/access/evaluation/resolved-target.ts";
import { createSnapshots } from "../../src/access/snapshots/current-snapshots.ts";
import { nextRevision, numberOf } from "../../src/changes/revision.ts";
import type { Database } from "../../src/database/database.ts";
import { memberDefinition } from "../../src/iam/members/definition.ts";
import { recordChange } from "../../src/standard-methods/write/append-change.ts";
import { addApiKey, addMember, addOrg, insertMember, write } from "../database/sample-rows.ts";
import { sampleRevision } from "../support/revisions.ts";
import { openTestDatabase } from "../support/test-database.ts";

const tryAgain = {
  reason: "SERVICE_UNAVAILABLE",
  message: "the API key or its org changed during the call; try again",
};

let database: Database;
let orgId: string;
let memberId: string;
let credentialId: string;
let grantsUntil: string;
let snapshot: OrgSnapshot;
beforeEach(async () => {
  database = await openTestDatabase();
  const org = await addOrg(database, "acme");
  orgId = org.id;
  await addChange("bob");
  grantsUntil = await readRevision();
  const alice = await addMember(database, org, "alice");
  memberId = alice.id;
  credentialId = (await addApiKey(database, org, alice, "limited")).id;
  await setLimit(grantsUntil);
  const snapshots = createSnapshots({
    database,
    readConnections: 4,
    maxBytes: Infinity,
    predefinedRoles: {},
    compileCondition: () => () => true,
  });
  snapshot = await snapshots.at(orgId, { revision: grantsUntil, readAt: performance.now() });
});

/** A write with an entry in the change log. */
const addChange = (name: string): Promise<void> =>
  write(database, { id: orgId }, async (transaction) =>
    recordChange(transaction, memberDefinition, null, await insertMember(transaction, name)),
  );

const readRevision = async (): Promise<string> =>
  (await database.reads.selectFrom("orgs").select("revision").where("id", "=", orgId).executeTakeFirstOrThrow())
    .revision;

const setLimit = (limit: string | null) =>
  database.writes.updateTable("api_keys").set({ grants_until: limit }).where("id", "=", credentialId).execute();

const read = async () =>
  readCounted(database.reads, snapshot, { orgId, memberId, credentialId, grantsUntil }, "current");

const decideBy = (counted: Awaited<ReturnType<typeof read>>): boolean => {
  const subject = { kind: "member", id: memberId } as const;
  return allows(
    snapshot,
    { subject, attributes: {}, now: 0, counted, conditions: createRequestConditions() },
    "iam.orgs.get",
    everywhere,
  );
};

const expectUndecided = (counted: Awaited<ReturnType<typeof read>>) =>
  expect(() => decideBy(counted)).toThrow(expect.objectContaining(tryAgain) as Error);

test("a decision can be made from a snapshot as it was when the role bindings were read, and as the org was then", async () => {
  const atLimit = await read();
  expect(decideBy(atLimit)).toBe(false);
  await addChange("carol");
  const later = await read();
  expect(decideBy(later)).toBe(false);
  snapshot.advanceTo(await readRevision());
  expect(decideBy(later)).toBe(false);
  expectUndecided(atLimit);
  expect(decideBy("all")).toBe(false);
  expect(decideBy(await read())).toBe(false);
});

test("none can be made from a snapshot that the read does not know, though the numbers fit", async () => {
  // The database has lost a revision, and has another one with its number.
  const lost = nextRevision(grantsUntil);
  await addChange("carol");
  await addChange("dave");
  snapshot.advanceTo(lost);
  await expect(read()).rejects.toMatchObject(tryAgain);
  const found = await database.reads.selectFrom("changes").select("revision").where("org_id", "=", orgId).execute();
  const kept = found.find(({ revision }) => numberOf(revision) === numberOf(lost));
  snapshot.advanceTo(kept?.revision ?? "");
  expect(decideBy(await read())).toBe(false);
});

test("none can be made for a key that is gone, that was confirmed, or whose limit the database has lost", async () => {
  for (const limit of [null, sampleRevision(Number(numberOf(grantsUntil)))]) {
    await setLimit(limit);
    await expect(read()).rejects.toMatchObject(tryAgain);
  }
  await setLimit(grantsUntil);
  expect(decideBy(await read())).toBe(false);
  await database.writes.deleteFrom("api_keys").where("id", "=", credentialId).execute();
  await expect(read()).rejects.toMatchObject(tryAgain);
});
