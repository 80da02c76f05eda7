import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { inTransaction, writeInOrg } from "../../../src/changes/write-in-org.ts";
import { orgDefinition } from "../../../src/iam/orgs/definition.ts";
import { required } from "../../../src/errors/required.ts";
import { findRow } from "../../../src/standard-methods/read/row-reader.ts";
import { makeTransitions } from "../../../src/standard-methods/rows/make-transitions.ts";
import { addOrg, sampleAuthor } from "../../database/sample-rows.ts";
import { fillOrg, openPurgeFixture, retentionDays } from "./purge-fixture.ts";

test("an undelete that begins before the purge time and waits until the org is partly removed does not restore it", async () => {
  const fixture = await openPurgeFixture();
  const org = await addOrg(fixture.database, "acme");
  await fillOrg(fixture, org, { members: 10 });
  const reference = { by: "id", value: org.id } as const;
  const undeleted = await inTransaction(fixture.database, async (db) => {
    // The time of this transaction stays before the purge time, however long the transaction waits.
    await sql`select now()`.execute(db);
    await fixture.query(sql`update orgs set delete_time = now(), purge_time = now() + interval '200 milliseconds'
      where id = ${org.id}`);
    await sleep(400);
    let steps = 0;
    await fixture.createJob({ rowsPerStep: 5, maxRunMs: 1, clock: () => steps, onStep: () => steps++ }).runOnce();
    expect(steps).toBe(1);
    return writeInOrg(db, { org: reference, state: "any" }, sampleAuthor, async (transaction) => {
      const row = required(await findRow(db, orgDefinition, [reference]));
      const target = { db, org, revision: transaction.revision, time: transaction.time };
      return makeTransitions(target, orgDefinition, [row], { transition: "undelete", retentionDays });
    });
  });
  expect(undeleted.rows).toEqual([]);
});
