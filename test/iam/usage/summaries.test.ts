// Tests when usage is summed up, and what becomes of the sums: with a write that goes on, a server that ends, a purge and a log that was cut.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { required } from "../../../src/errors/required.ts";
import { pieceFor, summaryLimits } from "../../../src/iam/usage/summaries.ts";
import type { UsageScope } from "../../../src/iam/usage/select-usage.ts";
import { type Cloud, openCloud } from "../../resources/cloud.ts";
import { uniqueName } from "../../support/api.ts";
import { type SharedServer, sharedServer } from "../../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type Entry, readHistory } from "./naive-usage.ts";
import { createAskSummed, naively, openServer, shortPieces as limits } from "./summed-usage.ts";

let server: SharedServer;
let sql: SqlClient;
let database: Database;

beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
  database = openServer(server.databaseUrl);
});
afterAll(() => sql.close());

/** Milliseconds. */
const shortPieces = { ...limits, summaries: { ...limits.summaries, pieces: [1_000] as const } };

interface Place {
  readonly cloud: Cloud;
  readonly org: UsageScope;
  readonly customer: UsageScope;
}

/**
 * Creates an org in which there is a resource.
 *
 * @param pastMs for how long it has been there at least, in pieces, on a fast machine, too.
 */
async function openPlace(pastMs = 200): Promise<Place> {
  const cloud = await openCloud("gRPC", server.url, server.operatorKey);
  const { id } = await cloud.api.orgs.getOrg({ path: cloud.org });
  const [row] = await sql.query("select customer_id from orgs where id = $1", [id]);
  const customerId = String(row?.["customer_id"]);
  await cloud.create("first", 2);
  await cloud.complete();
  await sleep(pastMs);
  const customer = { kind: "customer", id: customerId, customerId, orgId: null } as const;
  return { cloud, org: { kind: "org", id, customerId, orgId: id }, customer };
}

const historyOf = ({ customerId }: UsageScope): Promise<Entry[]> => readHistory(sql, customerId);

/** The last minute, in one step. */
async function untilNow() {
  const [row] = await sql.query("select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now");
  const end = BigInt(String(row?.["now"]));
  return { start: end - 60_000_000n, end, step: 60_000_000n };
}

async function piecesOf({ id }: UsageScope): Promise<number> {
  const [row] = await sql.query(
    "select coalesce(sum((ends - begins) / piece), 0)::int as pieces from usage_summaries where scope_id = $1",
    [id],
  );
  return Number(row?.["pieces"]);
}

test("what a write that goes on will have changed is not missed", async () => {
  const { org } = await openPlace();
  const ask = await createAskSummed(database, sql, shortPieces);
  await sql.query("begin");
  await sql.query("select from orgs where id = $1 for no key update", [org.id]);
  const [locked] = await sql.query("select clock_timestamp()::text as time");
  const period = await untilNow();
  const before = await ask(org, period);
  expect(before).toEqual(naively(await historyOf(org), org, period));
  expect(await piecesOf(org)).toBe(0);
  // It has the time at which it got the lock.
  const id = crypto.randomUUID();
  await sql.query(
    `insert into changes select new.* from changes cross join lateral jsonb_populate_record(changes,
        jsonb_build_object('resource_id', $2::text, 'revision', gen_random_uuid(), 'time', $3::text, 'before', null)) as new
      where changes.org_id = $1 and changes.resource_type = 'Resource' and changes.after ->> 'state' = 'ACTIVE'`,
    [org.id, id, locked?.["time"]],
  );
  await sql.query(
    `insert into resources select new.* from resources
      cross join lateral jsonb_populate_record(resources, jsonb_build_object('id', $2::text, 'name', 'second')) as new
      where resources.org_id = $1`,
    [org.id, id],
  );
  await sql.query("commit");
  const after = await ask(org, period);
  expect(after).toEqual(naively(await historyOf(org), org, period));
  expect(after).not.toEqual(before);
  expect(await piecesOf(org)).toBeGreaterThan(50);
  expect(await ask(org, period)).toEqual(after);
  // Nothing else counts it.
  await sql.query("delete from resources where id = $1", [id]);
  await sql.query("delete from changes where resource_id = $1", [id]);
});

test("a server goes on where another one has ended", async () => {
  // Transactions have twice as many pieces as the one before, from eight on: those below have 456.
  const { org } = await openPlace(1_000);
  const period = await untilNow();
  const counts: number[] = [];
  for (let transactions = 1; transactions <= 5; transactions++) {
    const ending = new AbortController();
    let left = transactions;
    const writes = new Proxy(database.writes, {
      get(target, name) {
        if (name === "transaction" && left-- === 0) ending.abort();
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const ofEnding = { ...shortPieces, ending: () => ending.signal };
    const ended = await createAskSummed({ reads: database.reads, writes }, sql, ofEnding);
    await expect(ended(org, period)).rejects.toMatchObject({
      reason: "DEADLINE_EXCEEDED",
      message: expect.stringContaining("ask again"),
    });
    counts.push(await piecesOf(org));
  }
  expect(counts.at(-1)).toBeGreaterThan(required(counts[0]));
  const ask = await createAskSummed(database, sql, shortPieces);
  expect(await ask(org, period)).toEqual(naively(await historyOf(org), org, period));
  expect(await piecesOf(org)).toBeGreaterThan(required(counts.at(-1)));
});

test("sums of a customer with an org that is purged are not used, and are removed with it", async () => {
  const { cloud, org, customer } = await openPlace();
  const { api } = cloud;
  const { customerPath } = await api.orgs.getOrg({ path: cloud.org });
  await api.orgs.createOrg({ org: { name: uniqueName("stays"), customerPath } });
  await cloud.resources.deleteResource({ path: `${cloud.project}/resources/first` });
  await cloud.complete();
  const ask = await createAskSummed(database, sql, shortPieces);
  const period = await untilNow();
  expect((await ask(customer, period)).size).toBeGreaterThan(0);
  await ask(org, period);
  expect(await piecesOf(customer)).toBeGreaterThan(0);
  await api.orgs.deleteOrg({ path: cloud.org });
  await sql.query("update orgs set purge_time = now() where id = $1", [org.id]);
  expect(await ask(customer, period)).toEqual(new Map());
  const sums = await sql.query("select from usage_sums where customer_id = $1 and org_id = $2", [
    customer.customerId,
    customer.id,
  ]);
  expect(sums).toEqual([]);
});

test("sums of what the log has no longer are removed, and the others stay right", async () => {
  const { cloud, org } = await openPlace();
  const ask = await createAskSummed(database, sql, shortPieces);
  const period = await untilNow();
  await ask(org, period);
  await sql.query("update orgs set create_time = '2001-01-01' where id = $1", [org.id]);
  await sql.query("update usage_summaries set begins = 1000000000000000 where scope_id = $1", [org.id]);
  await sql.query(
    `insert into usage_sums select customer_id, org_id, id, begins, null, null, null, null, 'cores', 5, 5, 5
      from usage_summaries where scope_id = $1`,
    [org.id],
  );
  await cloud.create("second", 1);
  await cloud.complete();
  const later = await untilNow();
  const history = await historyOf(org);
  expect(await ask(org, later)).toEqual(naively(history, org, later));
  expect(await sql.query("select from usage_sums where org_id = $1 and change = 5 and moment = 5", [org.id])).toEqual(
    [],
  );
  expect(await ask(org, period)).toEqual(naively(history, org, period));
});

test("pieces are days where steps are days in UTC or long, and otherwise hours", () => {
  const [hour, day] = [3_600e6, 86_400e6];
  const pieceOf = (start: number, step: number) =>
    pieceFor({ start, end: start + 30 * step, step, steps: 30 }, summaryLimits) / hour;
  expect(pieceOf(20_000 * day, day)).toBe(24);
  expect(pieceOf(20_000 * day, 2 * day)).toBe(24);
  expect(pieceOf(20_000 * day + hour, day)).toBe(1);
  expect(pieceOf(20_000 * day, 36 * hour)).toBe(1);
  expect(pieceOf(20_000 * day + 7, 7 * day)).toBe(24);
});
