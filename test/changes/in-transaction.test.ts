import { type Transaction, sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { inTransaction, writeInOrg } from "../../src/changes/write-in-org.ts";
import type { Schema } from "../../src/database/schema.ts";
import type { OrgRow } from "../../src/iam/orgs/store.ts";
import { addOrg, sampleAuthor, write } from "../database/sample-rows.ts";
import { useSharedDatabase } from "../database/shared-database.ts";
import { addLogged, changeOf, changesOf, createGate, revisionOf } from "./logged-writes.ts";
import { numbersOf } from "../support/revisions.ts";

const database = useSharedDatabase();
let serial = 0;
let org: OrgRow;

const newOrg = () => addOrg(database(), `org-${++serial}`);

beforeAll(async () => {
  org = await newOrg();
});

describe("a transaction", () => {
  const fail = (db: Transaction<Schema>, code: string) =>
    sql.raw(`do $$ begin raise exception 'failed' using errcode = '${code}'; end $$`).execute(db);

  test("that ends in a deadlock is repeated until all have succeeded", async () => {
    const [one, other] = [await newOrg(), await newOrg()];
    const [bothHold, oneSucceeded] = [createGate(), createGate()];
    let holders = 0;
    let attempts = 0;
    const writeBoth = (first: OrgRow, second: OrgRow, deadlockTimeout: string) =>
      inTransaction(database(), async (db) => {
        // The first repetition could take the row back before the other transaction wakes up, and meet it in a deadlock again.
        if (++attempts === 3) await oneSucceeded.opened;
        await sql`select set_config('deadlock_timeout', ${deadlockTimeout}, true)`.execute(db);
        return writeInOrg(db, { org: { by: "id", value: first.id } }, sampleAuthor, async (outer) => {
          outer.record(changeOf(first.id));
          if (++holders === 2) bothHold.open();
          await bothHold.opened;
          return writeInOrg(db, { org: { by: "id", value: second.id } }, sampleAuthor, async (inner) => {
            inner.record(changeOf(second.id));
          });
        });
      }).then(oneSucceeded.open);
    // If both looked for a deadlock at the same time, both would fail.
    await Promise.all([writeBoth(one, other, "50ms"), writeBoth(other, one, "2s")]);
    expect(attempts).toBe(3);
    expect(numbersOf(await changesOf(database(), one))).toEqual([2, 3]);
    expect(numbersOf(await changesOf(database(), other))).toEqual([2, 3]);
  });

  test.each(["40P01", "40001"])("that always conflicts fails after three attempts: %s", async (code) => {
    let attempts = 0;
    const losing = inTransaction(database(), (db) => {
      attempts++;
      return fail(db, code);
    });
    await expect(losing).rejects.toMatchObject({ code });
    expect(attempts).toBe(3);
  });

  test("whose caller no longer waits is rolled back", async () => {
    const controller = new AbortController();
    const call = { signal: () => controller.signal, remainingMs: () => undefined };
    const rejected = inTransaction(
      database(),
      async (db) => {
        await db.updateTable("orgs").set({ display_name: "late" }).where("id", "=", org.id).execute();
        controller.abort(new Error("too late"));
      },
      call,
    );
    await expect(rejected).rejects.toThrow("too late");
    const read = database().reads.selectFrom("orgs").select("display_name").where("id", "=", org.id);
    expect(await read.execute()).toEqual([{ display_name: org.display_name }]);
  });

  test.each(["23505", "57014", "22012"])("that fails for another reason is not repeated: %s", async (code) => {
    let attempts = 0;
    const failing = inTransaction(database(), (db) => {
      attempts++;
      return fail(db, code);
    });
    await expect(failing).rejects.toMatchObject({ code });
    expect(attempts).toBe(1);
  });

  test("that is repeated logs the changes of its last attempt only", async () => {
    let attempts = 0;
    const before = await revisionOf(database(), org);
    await write(database(), org, async (transaction) => {
      await addLogged(transaction, "again");
      if (++attempts < 3) await fail(transaction.db, "40001");
    });
    expect(await revisionOf(database(), org)).toBe(before + 1);
    expect(numbersOf(await changesOf(database(), org)).filter((number) => number > before)).toHaveLength(1);
  });
});
