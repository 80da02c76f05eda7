import { sql } from "kysely";
import { expect, test } from "vitest";
import { createSnapshots } from "../../src/access/snapshots/current-snapshots.ts";
import { required } from "../../src/errors/required.ts";
import { memberDefinition } from "../../src/iam/members/definition.ts";
import type { Caller } from "../../src/identity/caller.ts";
import { refreshCaller } from "../../src/identity/refresh-caller.ts";
import { recordChange } from "../../src/standard-methods/write/append-change.ts";
import { addApiKey, addMember, addOrg, insertMember, write } from "../database/sample-rows.ts";
import { sampleRevision } from "../support/revisions.ts";
import { authenticateKeys } from "./authenticate-keys.ts";
import { openTestDatabase } from "../support/test-database.ts";

test("a write does not use a snapshot that is older than its lock", async () => {
  const database = await openTestDatabase();
  const org = await addOrg(database, "acme");
  const { secret } = await addApiKey(database, org, await addMember(database, org, "robot"), "ci");
  const addChange = (name: string): Promise<void> =>
    write(database, org, async (transaction) =>
      recordChange(transaction, memberDefinition, null, await insertMember(transaction, name)),
    );
  await addChange("first");
  const snapshots = createSnapshots({
    database,
    readConnections: 4,
    maxBytes: Infinity,
    predefinedRoles: {},
    compileCondition: () => () => true,
  });
  const authenticate = authenticateKeys(database);
  let arriving: Promise<Caller> | undefined;
  await database.writes.transaction().execute(async (db) => {
    // The call starts to read the head, and waits for this lock.
    await sql`lock table api_keys in access exclusive mode`.execute(db);
    arriving = authenticate(`Bearer ${secret}`, null);
    const waiting = sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await waiting.execute(database.reads)).rows.length).toBe(1);
    // The snapshot is loaded for another call, and then the org changes.
    await snapshots.at(org.id, { revision: "", readAt: performance.now() });
    await addChange("second");
  });
  const caller = await required(arriving);
  expect(snapshots.held(org.id)?.revision).not.toBe(caller.orgHead.revision);

  await write(database, org, async ({ db, org: locked }) => {
    expect(locked.revision).toBe(caller.orgHead.revision);
    const { orgHead } = await refreshCaller(db, caller, locked);
    expect((await snapshots.at(org.id, orgHead)).revision).toBe(locked.revision);
  });
});

test("under the lock, a key that has a limit which the call did not see is not valid", async () => {
  const database = await openTestDatabase();
  const org = await addOrg(database, "acme");
  const { id, secret } = await addApiKey(database, org, await addMember(database, org, "robot"), "ci");
  const setLimit = (limit: string | null) =>
    database.writes.updateTable("api_keys").set({ grants_until: limit }).where("id", "=", id).execute();
  const refresh = async (caller: Caller) => {
    const { grantsUntil } = await database.writes.transaction().execute((db) => refreshCaller(db, caller, undefined));
    return grantsUntil;
  };
  const authenticate = authenticateKeys(database);
  const [limit, other] = [sampleRevision(1), sampleRevision(2)];
  const unlimited = await authenticate(`Bearer ${secret}`, null);
  expect(await refresh(unlimited)).toBe(null);
  await setLimit(limit);
  // The confirmation of the key is lost.
  await expect(refresh(unlimited)).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
  const limited = await authenticate(`Bearer ${secret}`, null);
  expect(await refresh(limited)).toBe(limit);
  await setLimit(other);
  await expect(refresh(limited)).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
  // The key was confirmed after the call arrived.
  await setLimit(null);
  expect(await refresh(limited)).toBe(limit);
});
