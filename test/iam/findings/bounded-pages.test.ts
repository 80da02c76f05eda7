// Tests that what is found does not depend on how much each statement looks at, and that a page ends when it has looked at enough.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import { required } from "../../../src/errors/required.ts";
import type { FindingColumns } from "../../../src/iam/findings/finding-source.ts";
import { createListFindings, findingSources, readFindingsFilter } from "../../../src/iam/findings/list-findings.ts";
import { createPredefinedRoles } from "../../../src/iam/roles/predefined-roles.ts";
import { registry } from "../../../src/resource-registry.ts";
import { createMethodTable, permissionsOfMethods } from "../../../src/rpc/method-table.ts";
import { services } from "../../../src/rpc/services.ts";
import { createApi } from "../../support/api.ts";
import { type SharedServer, sharedServer } from "../../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { naiveFindings } from "./naive-findings.ts";
import { makeRandomOrg } from "./random-org.ts";

const predefinedRoles = createPredefinedRoles(permissionsOfMethods(createMethodTable(services)), registry.definitions);
const unusedDays = 30;

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

const textOf = (kind: string, path: string): string => `${kind} ${path}`;

test("a walk has the same findings, however few resources each statement looks at and whatever is not shown", async () => {
  const api = createApi("gRPC", server.url, server.operatorKey);
  const parentPath = await makeRandomOrg(api, sql);
  const { id } = await api.orgs.getOrg({ path: parentPath });
  const [row] = await sql.query("select customer_id from orgs where id = $1", [id]);
  const org = { id, customer_id: String(row?.["customer_id"]) };
  const question = { org, unusedDays, predefinedRoles };
  const list = createListFindings(database);
  const call = { orgId: id, signal: new AbortController().signal, timeoutMs: () => undefined };

  const walk = async (atOnce: number, size: number, shows: (text: string) => boolean = () => true) => {
    const sources = findingSources.map((source) => ({ ...source, atOnce }));
    const isShown = ({ kind, resource_path: path }: FindingColumns) => Promise.resolve(shows(textOf(kind, path)));
    const pages: string[][] = [];
    let after: readonly string[] | undefined;
    do {
      const page = { question, sources, filter: readFindingsFilter(""), after, size, isShown };
      const { findings, next } = await list(call, page);
      pages.push(findings.map(({ kind, resource_path: path }) => textOf(kind, path)));
      after = next;
    } while (after !== undefined);
    return pages;
  };

  const all = (await naiveFindings(api, parentPath, unusedDays)).map(([kind, path]) => textOf(kind, path));
  expect((await walk(3, 4)).flat()).toEqual(all);
  // The last page is known to be the last.
  expect((await walk(1_000, all.length)).length).toBe(1);
  expect((await walk(1_000, all.length - 1)).map(({ length }) => length)).toEqual([all.length - 1, 1]);
  // There are more candidates than a page looks at, one by one.
  const short = await walk(1, 1_000);
  expect(short.flat()).toEqual(all);
  expect(required(short[0]).length).toBeLessThan(all.length);
  const odd = all.filter((_, index) => index % 2 === 1);
  const isOdd = (text: string) => odd.includes(text);
  expect((await walk(1_000, 1, isOdd)).flat()).toEqual(odd);
  expect((await walk(2, 3, isOdd)).flat()).toEqual(odd);
});
