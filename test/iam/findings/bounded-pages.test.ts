// Tests that what is found does not depend on how much each statement looks at, and that a page ends when it has looked at enough.
import { sql as raw } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import { required } from "../../../src/errors/required.ts";
import type { FindingColumns, FindingSource } from "../../../src/iam/findings/finding-source.ts";
import { unboundRoles } from "../../../src/iam/findings/group-and-role-sources.ts";
import { createListFindings, findingSources, readFindingsFilter } from "../../../src/iam/findings/list-findings.ts";
import { createPredefinedRoles } from "../../../src/iam/roles/predefined-roles.ts";
import { registry } from "../../../src/resource-registry.ts";
import { createMethodTable, permissionsOfMethods } from "../../../src/rpc/method-table.ts";
import { services } from "../../../src/rpc/services.ts";
import { createApi, uniqueName } from "../../support/api.ts";
import { type SharedServer, sharedServer } from "../../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { naiveFindings } from "./naive-findings.ts";
import { makeRandomOrg } from "./random-org.ts";

const predefinedRoles = createPredefinedRoles(permissionsOfMethods(createMethodTable(services)), registry.definitions);
const unusedDays = 30;
const recordedSince = new Date();

let sql: SqlClient;
let database: Database;
let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
  database = openDatabase({
    connection: { connectionString: server.databaseUrl },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
});
afterAll(async () => {
  await database.close();
  await sql.close();
});

const all = findingSources.map(({ kind }) => kind);

const textOf = (kind: string, path: string): string => `${kind} ${path}`;

const callOf = (orgId: string, remainingMs?: number) => ({
  orgId,
  customerId: orgId,
  signal: new AbortController().signal,
  timeoutMs: () => remainingMs,
});

const everything = () => Promise.resolve(true);

test("a walk has the same findings, however few resources each statement looks at and whatever is not shown", async () => {
  const api = createApi("gRPC", server.url, server.operatorKey);
  const parentPath = await makeRandomOrg(api, sql);
  const { id } = await api.orgs.getOrg({ path: parentPath });
  const [row] = await sql.query("select customer_id from orgs where id = $1", [id]);
  const org = { id, customer_id: String(row?.["customer_id"]) };
  const question = { org, unusedDays, recordedSince, predefinedRoles };
  const list = createListFindings(database, { statementMs: 10_000, lockMs: 5_000 });

  const walk = async (
    atOnce: number,
    size: number,
    shows: (text: string) => boolean = () => true,
    remainingMs?: number,
  ) => {
    const sources = findingSources.map((source) => ({ ...source, atOnce }));
    const isShown = ({ kind, resource_path: path }: FindingColumns) => Promise.resolve(shows(textOf(kind, path)));
    const pages: string[][] = [];
    let after: readonly string[] | undefined;
    do {
      const page = { question, sources, filter: readFindingsFilter(""), after, size, isShown };
      const { findings, next } = await list(callOf(id, remainingMs), page);
      pages.push(findings.map(({ kind, resource_path: path }) => textOf(kind, path)));
      after = next;
    } while (after !== undefined);
    return pages;
  };

  const naive = (await naiveFindings(api, parentPath, unusedDays)).map(([kind, path]) => textOf(kind, path));
  expect((await walk(3, 4)).flat()).toEqual(naive);
  // The last page is known to be the last.
  expect((await walk(1_000, naive.length)).length).toBe(1);
  expect((await walk(1_000, naive.length - 1)).map(({ length }) => length)).toEqual([naive.length - 1, 1]);
  // There are more candidates than a page looks at, one by one.
  const short = await walk(1, 1_000);
  expect(short.flat()).toEqual(naive);
  expect(required(short[0]).length).toBeLessThan(naive.length);
  // With less time than a statement has, a page is one statement.
  const hurried = await walk(5, 1_000, undefined, 9_000);
  expect(hurried.flat()).toEqual(naive);
  expect(hurried.every(({ length }) => length <= 5)).toBe(true);
  const odd = naive.filter((_, index) => index % 2 === 1);
  const isOdd = (text: string) => odd.includes(text);
  expect((await walk(1_000, 1, isOdd)).flat()).toEqual(odd);
  expect((await walk(2, 3, isOdd)).flat()).toEqual(odd);
});

test("a statement that takes too long looks at fewer resources the next time, and fails if one is too many", async () => {
  const api = createApi("gRPC", server.url, server.operatorKey);
  const { id, path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const requests = Array.from({ length: 9 }, () => ({ role: { name: uniqueName("r") } }));
  await api.roles.batchCreateRoles({ parentPath, requests });
  const [row] = await sql.query("select customer_id from orgs where id = $1", [id]);
  const question = {
    org: { id, customer_id: String(row?.["customer_id"]) },
    unusedDays,
    recordedSince,
    predefinedRoles,
  };
  const slow = (seconds: number): FindingSource => {
    const select: FindingSource["select"] = (asked) => raw<FindingColumns>`
      select each.* from (${unboundRoles.select(asked)}) as each, lateral (select pg_sleep(${seconds}), each.kind offset 0) as slept`;
    return { ...unboundRoles, atOnce: 9, select };
  };
  const list = createListFindings(database, { statementMs: 1_000, lockMs: 1_000 });
  const page = { question, filter: readFindingsFilter(""), after: undefined, size: 50, isShown: everything };
  const { findings, next } = await list(callOf(id), { ...page, sources: [slow(0.2)] });
  expect([findings.length, next]).toEqual([9, undefined]);
  const tooSlow = list(callOf(id), { ...page, sources: [slow(1.5)] });
  await expect(tooSlow).rejects.toMatchObject({ reason: "DEADLINE_EXCEEDED" });
});

test.each([
  ["", all],
  ["kind = ROLE_UNBOUND", ["ROLE_UNBOUND"]],
  ["kind != ROLE_UNBOUND AND NOT kind = API_KEY_UNUSED", all.filter((kind) => !/ROLE_UNB|Y_UNUSED/.test(kind))],
  ['kind = ROLE_UNBOUND OR resource_path = "/orgs/acme"', all],
  ['kind = ROLE_UNBOUND AND resource_path = "/orgs/acme"', ["ROLE_UNBOUND"]],
  ["kind = ROLE_UNBOUND AND kind = MEMBER_UNUSED", []],
  ["NOT (kind = ROLE_UNBOUND OR kind = MEMBER_UNUSED)", all.filter((kind) => !/ROLE_UNB|^MEMBER_U/.test(kind))],
  ['NOT (kind = ROLE_UNBOUND AND resource_path = "/orgs/acme")', all],
  ["kind:*", all],
])("with the filter %j, only kinds that it can match are read", (filter, kinds) => {
  const { admits } = readFindingsFilter(filter);
  expect(all.filter(admits)).toEqual(kinds);
});
