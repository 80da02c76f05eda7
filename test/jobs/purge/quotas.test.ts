// What a purged project, org or customer used and reserved is free again at every level above, and its quotas are gone.
import { sql } from "kysely";
import { v7 as uuid } from "uuid";
import { expect, test } from "vitest";
import { required } from "../../../src/errors/required.ts";
import { rebuild } from "../../database/sample-rows.ts";
import { findLedgerDrift } from "../../support/find-ledger-drift.ts";
import { rounds } from "../../support/rounds.ts";
import { type LevelName, ledgerOn, makeKinds, makePlaces, readBalance, setLimit } from "../../quotas/quota-place.ts";
import { type PurgeFixture, openPurgeFixture } from "./purge-fixture.ts";

/** Two orgs with two projects each, with resources in every project, and limits of `cpu_cores` at every level. */
async function openQuotaPlace(resources: number) {
  const purge = await openPurgeFixture();
  const { database } = purge;
  const places = await makePlaces(database, 2, 2);
  const [first, second, third] = places.map((place) => required(place)) as [
    (typeof places)[0],
    (typeof places)[0],
    (typeof places)[0],
  ];
  await makeKinds(database, purge.systemOrg.id, ["cpu_cores", "ram"]);
  for (const level of ["customer", "org", "project"] as const) {
    for (const place of places) await setLimit(database, place, level, "cpu_cores", "1000");
  }
  const ledger = ledgerOn(database);
  for (const place of places) {
    for (let count = 0; count < resources; count++) await ledger.settle(place, uuid(), { cpu_cores: 0.1, ram: 2 });
    await ledger.reserve(place, uuid(), { cpu_cores: 3 });
  }
  await rebuild(database);
  const balance = (level: LevelName, of = first, kind = "cpu_cores") => readBalance(database, of, level, kind);
  return { purge, first, second, third, balance };
}

const expire = ({ query }: PurgeFixture, table: "customers" | "orgs" | "projects", id: string) =>
  query(sql`update ${sql.table(table)} set delete_time = now() - interval '2 days', purge_time = now() - interval '1 day'
    where id = ${id}`);

/** Runs the job with small transactions, and looks for differences after each of them. */
async function runJob({ createJob, database }: PurgeFixture, rowsPerStep: number): Promise<void> {
  const drifts: Promise<object[]>[] = [];
  const job = createJob({ rowsPerStep, onStep: () => void drifts.push(findLedgerDrift(database.reads)) });
  await job.runOnce();
  expect((await Promise.all(drifts)).flat()).toEqual([]);
}

test.each(rounds([3], [2, 3, 200]))("a project, %i rows at a time", async (rowsPerStep) => {
  const { purge, first, second, third, balance } = await openQuotaPlace(5);
  expect(await balance("customer")).toEqual({ maximum: "1000", used: "2", reserved: "12" });
  await expire(purge, "projects", first.projectId);
  await rebuild(purge.database);
  await runJob(purge, rowsPerStep);
  expect(await purge.query(sql`select from projects where id = ${first.projectId}`)).toEqual([]);
  expect(await purge.query(sql`select from quotas where scope_id = ${first.projectId}`)).toEqual([]);
  expect(await balance("org")).toEqual({ maximum: "1000", used: "0.5", reserved: "3" });
  expect(await balance("customer")).toEqual({ maximum: "1000", used: "1.5", reserved: "9" });
  expect(await balance("customer", first, "ram")).toEqual({ maximum: null, used: "30", reserved: "0" });
  expect(await balance("project", second)).toEqual({ maximum: "1000", used: "0.5", reserved: "3" });
  expect(await balance("org", third)).toEqual({ maximum: "1000", used: "1", reserved: "6" });
});

test.each(rounds([2], [2, 200]))("an org, and then its customer, %i rows at a time", async (rowsPerStep) => {
  const { purge, first, third, balance } = await openQuotaPlace(5);
  await expire(purge, "orgs", first.orgId);
  await runJob(purge, rowsPerStep);
  expect(await purge.query(sql`select from orgs where id = ${first.orgId}`)).toEqual([]);
  expect(await purge.query(sql`select from quotas where org_id = ${first.orgId}`)).toEqual([]);
  expect(await balance("customer")).toEqual({ maximum: "1000", used: "1", reserved: "6" });
  expect(await balance("org", third)).toEqual({ maximum: "1000", used: "1", reserved: "6" });

  await expire(purge, "orgs", third.orgId);
  await expire(purge, "customers", first.customerId);
  await runJob(purge, rowsPerStep);
  await runJob(purge, rowsPerStep);
  expect(await purge.query(sql`select from customers where id = ${first.customerId}`)).toEqual([]);
  expect(await purge.query(sql`select from quotas`)).toEqual([]);
  expect(await purge.query(sql`select from allocations`)).toEqual([]);
});
