import { beforeEach, expect, test } from "vitest";
import { type WriteGroup, beginGroup, beginInGroup, endInGroup, inSavepoint } from "../../src/changes/write-group.ts";
import { inTransaction, writeInOrg } from "../../src/changes/write-in-org.ts";
import type { WriteTransaction } from "../../src/database/write-transaction.ts";
import type { OrgRow } from "../../src/iam/orgs/store.ts";
import { addOrg, sampleAuthor } from "../database/sample-rows.ts";
import { useSharedDatabase } from "../database/shared-database.ts";
import { addLogged } from "./logged-writes.ts";

const database = useSharedDatabase();
let serial = 0;
let org: OrgRow;
/** The number of reads. */
let count: number;
beforeEach(async () => {
  org = await addOrg(database(), `read-once-${++serial}`);
  count = 0;
});

const inGroup = (run: (group: WriteGroup) => Promise<void>): Promise<void> =>
  inTransaction(database(), async (db: WriteTransaction) =>
    run(await beginGroup(db, { org: { by: "id", value: org.id } })),
  );

/** Runs a write of a group, which reads and then changes something. */
async function readIn(group: WriteGroup, calledAt: number, key = "a"): Promise<number> {
  group.calledAt = calledAt;
  const transaction = await beginInGroup(group, group.locks, sampleAuthor);
  const value = await transaction.readOnce(key, () => Promise.resolve(++count));
  await addLogged(transaction, `m-${++serial}`);
  endInGroup(group, transaction);
  return value;
}

test("writes of a group share what was read after they were called", () =>
  inGroup(async (group) => {
    expect(await readIn(group, 0)).toBe(1);
    expect(await readIn(group, 1)).toBe(1);
    expect(await readIn(group, 1, "b")).toBe(2);
    expect(await readIn(group, 2, "b")).toBe(2);
  }));

test("a write that was called later reads again, for those that follow it, too", () =>
  inGroup(async (group) => {
    expect(await readIn(group, 0)).toBe(1);
    const calledAt = performance.now();
    expect(await readIn(group, calledAt)).toBe(2);
    expect(await readIn(group, 1)).toBe(2);
    expect(await readIn(group, calledAt)).toBe(2);
  }));

test("what was read before a rollback is read again, because its locks have ended", () =>
  inGroup(async (group) => {
    const outcome = await inSavepoint(group, async () => {
      await readIn(group, 0);
      throw new Error("refused");
    });
    expect(outcome).toMatchObject({ error: { message: "refused" } });
    expect(await readIn(group, 1)).toBe(2);
    await inSavepoint(group, async () => {
      await readIn(group, 2, "b");
      throw new Error("refused");
    });
    expect(await readIn(group, 3)).toBe(2);
    expect(await readIn(group, 4, "b")).toBe(4);
  }));

test("a write on its own reads each time", () =>
  inTransaction(database(), (db) =>
    writeInOrg(db, { org: { by: "id", value: org.id } }, sampleAuthor, async ({ readOnce }) => {
      const read = () => readOnce("a", () => Promise.resolve(++count));
      expect([await read(), await read()]).toEqual([1, 2]);
    }),
  ));
