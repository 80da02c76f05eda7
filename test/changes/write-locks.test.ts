import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { beginGroup, beginInGroup } from "../../src/changes/write-group.ts";
import { beginWrite, inTransaction } from "../../src/changes/write-in-org.ts";
import { type OrgLocks, lockCustomersFirst } from "../../src/changes/write-locks.ts";
import { lockCustomers } from "../../src/iam/customers/store.ts";
import type { OrgRow } from "../../src/iam/orgs/store.ts";
import { addOrg, sampleAuthor } from "../database/sample-rows.ts";
import { useSharedDatabase } from "../database/shared-database.ts";

const database = useSharedDatabase();
let [org, other]: OrgRow[] = [];
beforeAll(async () => {
  [org, other] = [await addOrg(database(), "locks-a"), await addOrg(database(), "locks-b")];
});

const locksOf = (row = org): OrgLocks => ({ org: { by: "id", value: String(row?.id) } });

/** Whether another transaction can lock the customer of the org. */
async function isCustomerFree(): Promise<boolean> {
  const { rows } = await sql`select from customers where id = ${org?.customer_id} for update skip locked`.execute(
    database().reads,
  );
  return rows.length === 1;
}

test.each([true, false])("a write has the lock of the customer of its org if it asks for it: %s", async (customer) => {
  await inTransaction(database(), async (db) => {
    await beginWrite(db, { ...locksOf(), customer }, sampleAuthor);
    expect(await isCustomerFree()).toBe(!customer);
  });
});

test("the customers of several orgs are locked before the first of these", async () => {
  await inTransaction(database(), async (db) => {
    lockCustomersFirst(db, [locksOf(other).org, locksOf().org]);
    await beginWrite(db, locksOf(), sampleAuthor);
    expect(await isCustomerFree()).toBe(false);
  });
});

test("a group has locked an org, and locks no customer afterwards", async () => {
  const lockInGroup = () =>
    inTransaction(database(), async (db) => {
      await beginGroup(db, locksOf());
      lockCustomersFirst(db, [locksOf().org]);
    });
  await expect(lockInGroup()).rejects.toThrow("customers come first");
});

test("a write whose org is not active begins only if it goes on in every state", async () => {
  const suspended = await addOrg(database(), "locks-c");
  await database().writes.updateTable("orgs").set({ state: "SUSPENDED" }).where("id", "=", suspended.id).execute();
  const begin = (state: "active" | "any") =>
    inTransaction(database(), async (db) => {
      const locks = { ...locksOf(suspended), state };
      const alone = await beginWrite(db, locks, sampleAuthor);
      return [alone.org.state, (await beginInGroup(await beginGroup(db, locks), locks, sampleAuthor)).org.state];
    });
  expect(await begin("any")).toEqual(["SUSPENDED", "SUSPENDED"]);
  await expect(begin("active")).rejects.toMatchObject({ reason: "STATE_FORBIDS" });
});

test("a transaction that has locked an org locks no customer", async () => {
  const lockAfter = (lock: (db: Parameters<typeof beginWrite>[0]) => unknown) =>
    inTransaction(database(), async (db) => {
      await beginWrite(db, locksOf(), sampleAuthor);
      await lock(db);
    });
  const message = "customers come first";
  const next = { ...locksOf(other), customer: true };
  const logOfCustomer = { by: "id", value: String(other?.customer_id) } as const;
  await expect(lockAfter((db) => beginWrite(db, { logOfCustomer }, sampleAuthor))).rejects.toThrow(message);
  await expect(lockAfter((db) => beginWrite(db, next, sampleAuthor))).rejects.toThrow(message);
  await expect(lockAfter((db) => lockCustomersFirst(db, [next.org]))).rejects.toThrow(message);
  await expect(lockAfter((db) => lockCustomers(db, [logOfCustomer]))).rejects.toThrow(message);
  await expect(lockAfter((db) => beginWrite(db, locksOf(other), sampleAuthor))).resolves.toBeUndefined();
});

test("a group runs no write that needs a lock which it lacks", async () => {
  const needy = { ...locksOf(), customer: true };
  const run = (locks: OrgLocks) =>
    inTransaction(database(), async (db) => beginInGroup(await beginGroup(db, locks), needy, sampleAuthor));
  await expect(run(locksOf())).rejects.toThrow("a lock that its group lacks");
  expect((await run(needy)).org.id).toBe(org?.id);
});
