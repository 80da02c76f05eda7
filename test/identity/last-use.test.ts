import { setTimeout as sleep } from "node:timers/promises";
import { type KyselyPlugin, sql } from "kysely";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import type { Caller } from "../../src/identity/caller.ts";
import { createLastUse } from "../../src/identity/last-use.ts";
import type { MemberRow } from "../../src/iam/members/store.ts";
import type { OrgRow } from "../../src/iam/orgs/store.ts";
import { addApiKey, addMember, addOrg } from "../database/sample-rows.ts";
import { useSharedDatabase } from "../database/shared-database.ts";

const database = useSharedDatabase();
let org: OrgRow;
let member: MemberRow;
const errors: unknown[] = [];
const noteError = (error: unknown): void => void errors.push(error);

beforeAll(async () => {
  org = await addOrg(database(), "acme");
  member = await addMember(database(), org, "robot");
});
afterEach(() => {
  expect(errors.splice(0)).toEqual([]);
});

let serial = 0;

/** Creates a key, and returns the caller that uses it. */
async function addKey(): Promise<Caller> {
  serial++;
  const { id } = await addApiKey(database(), org, member, `key-${serial}`);
  return {
    memberId: member.id,
    orgId: org.id,
    customerId: org.customer_id,
    credentialId: id,
    credentialExpireTime: null,
    grantsUntil: null,
    scopes: undefined,
    projectId: undefined,
    allowedAddresses: undefined,
    impersonator: undefined,
    clientId: "",
    token: undefined,
    orgHead: { revision: "1", readAt: 0 },
    recentHeads: [],
    time: Date.now(),
  };
}

async function lastUse({ credentialId }: Caller): Promise<Date | null> {
  const row = await database()
    .reads.selectFrom("api_keys")
    .select("last_use_time")
    .where("id", "=", credentialId)
    .executeTakeFirstOrThrow();
  return row.last_use_time;
}

/** Returns the location and version of the row, which every update changes. */
async function rowVersion({ credentialId }: Caller): Promise<unknown> {
  const { rows } = await sql`select ctid::text, xmin::text from api_keys where id = ${credentialId}`.execute(
    database().reads,
  );
  return rows[0];
}

/** Wraps the database and counts the statements that write. */
function countWrites(): { database: Database; statements: () => number } {
  let count = 0;
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      count++;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  return { database: { ...database(), writes: database().writes.withPlugin(plugin) }, statements: () => count };
}

const minute = 60_000;
const hour = 60 * minute;

describe("the last use of an API key", () => {
  test("is stored with the precision of a minute when the service stops", async () => {
    const key = await addKey();
    expect(await lastUse(key)).toBeNull();
    const uses = createLastUse(database(), hour, noteError);
    const before = Math.floor(Date.now() / minute) * minute;
    uses.record(key);
    expect(await lastUse(key)).toBeNull();
    await uses.close();
    const time = (await lastUse(key))?.getTime() ?? 0;
    expect(time % minute).toBe(0);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
  });

  test("is stored periodically", async () => {
    const key = await addKey();
    const uses = createLastUse(database(), 10, noteError);
    uses.record(key);
    await expect.poll(() => lastUse(key)).toBeInstanceOf(Date);
    await uses.close();
  });

  test("needs one statement for a thousand uses of three keys, and none without uses", async () => {
    const keys = [await addKey(), await addKey(), await addKey()];
    const unused = await addKey();
    const counted = countWrites();
    const uses = createLastUse(counted.database, hour, noteError);
    for (let use = 0; use < 1000; use++) uses.record(keys[use % keys.length] as Caller);
    await uses.close();
    expect(counted.statements()).toBe(1);
    expect((await Promise.all(keys.map(lastUse))).every((time) => time instanceof Date)).toBe(true);
    expect(await lastUse(unused)).toBeNull();
    await uses.close();
    expect(counted.statements()).toBe(1);
  });

  test("is not updated for another use in the same minute", async () => {
    const key = await addKey();
    await sql`update api_keys set last_use_time = date_trunc('minute', now()) where id = ${key.credentialId}`.execute(
      database().writes,
    );
    const before = await rowVersion(key);
    const stored = (await lastUse(key))?.getTime() ?? 0;
    const uses = createLastUse(database(), hour, noteError);
    uses.record(key);
    await uses.close();
    // The row is unchanged, unless a minute has just begun.
    const isNextMinute = stored + minute <= Date.now();
    if (!isNextMinute) expect(await rowVersion(key)).toEqual(before);
  });

  test("replaces an older one", async () => {
    const key = await addKey();
    await sql`update api_keys set last_use_time = '2020-01-01' where id = ${key.credentialId}`.execute(
      database().writes,
    );
    const uses = createLastUse(database(), hour, noteError);
    uses.record(key);
    await uses.close();
    expect((await lastUse(key))?.getTime()).toBeGreaterThan(Date.now() - 2 * minute);
  });

  test("never decreases, even if the clocks of the servers differ", async () => {
    const key = await addKey();
    const later = new Date("2999-01-01T00:00:00Z");
    await sql`update api_keys set last_use_time = ${later} where id = ${key.credentialId}`.execute(database().writes);
    const uses = createLastUse(database(), hour, noteError);
    uses.record(key);
    await uses.close();
    expect(await lastUse(key)).toEqual(later);
  });

  test("of a deleted key is ignored", async () => {
    const [key, deleted] = [await addKey(), await addKey()];
    const uses = createLastUse(database(), hour, noteError);
    uses.record(key);
    uses.record(deleted);
    await database().writes.deleteFrom("api_keys").where("id", "=", deleted.credentialId).execute();
    await uses.close();
    expect(await lastUse(key)).toBeInstanceOf(Date);
  });

  test("that cannot be stored is reported, without further consequences", async () => {
    const uses = createLastUse(database(), hour, noteError);
    uses.record({
      memberId: "no",
      orgId: "uuid",
      customerId: "",
      credentialId: "here",
      credentialExpireTime: null,
      grantsUntil: null,
      scopes: undefined,
      projectId: undefined,
      allowedAddresses: undefined,
      impersonator: undefined,
      clientId: "",
      token: undefined,
      orgHead: { revision: "1", readAt: 0 },
      recentHeads: [],
      time: 0,
    });
    await uses.close();
    expect(errors.splice(0).map(String)).toEqual([expect.stringContaining("invalid input syntax for type uuid")]);
  });

  test("is not stored after the service has stopped", async () => {
    const key = await addKey();
    const uses = createLastUse(database(), 10, noteError);
    await uses.close();
    uses.record(key);
    await sleep(50);
    expect(await lastUse(key)).toBeNull();
  });
});
