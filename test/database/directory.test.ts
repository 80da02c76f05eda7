// The directory has each name of a customer or org and each prefix of an API key, whoever writes the rows: servers of two versions, the purge, a fill.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { migrate } from "../../src/database/migrate.ts";
import { fillBatch } from "../../src/database/migration/fills.ts";
import { directoryMigrations } from "../../src/database/migrations/0131-directory.ts";
import { required } from "../../src/errors/required.ts";
import { findDirectoryDrift } from "../support/find-directory-drift.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { migrateToBefore } from "./migrate-to-before.ts";
import { addApiKey, addMember, addOrg } from "./sample-rows.ts";

const fills = Object.entries(directoryMigrations).flatMap(([name, each]) =>
  "fill" in each ? [[name, each] as const] : [],
);

test("rows from before the directory are in it after the migration, and those that are written meanwhile", async () => {
  const database = await openTestDatabase({ empty: true });
  await migrateToBefore(database, "0131-directory");
  const run = (...statements: readonly string[]) =>
    statements.reduce(async (before, text) => {
      await before;
      await sql.raw(text).execute(database.writes);
    }, Promise.resolve());
  const named = "name, display_name, description, labels, changed_revision";
  const idOf = (number: number) => `01980f5e-7c1a-7b3e-9c55-${String(number).padStart(12, "0")}`;
  const [acme, other, revision] = [idOf(1), idOf(2), idOf(0)];
  await run(
    `insert into customers (id, ${named}) values ('${acme}', 'acme', '', '', '{}', '${revision}'), ('${other}', 'other', '', '', '{}', '${revision}')`,
    `insert into orgs (customer_id, id, state, revision, revision_time, ${named})
     select '${acme}', ('${acme.slice(0, -4)}' || number)::uuid, 'ACTIVE', '${revision}', now(), 'org-' || number, '', '', '{}', '${revision}'
     from generate_series(1000, 1199) as number`,
    `insert into members (customer_id, org_id, id, type, state, ${named})
     select '${acme}', id, id, 'USER', 'ACTIVE', 'alice', '', '', '{}', '${revision}' from orgs`,
    `insert into api_keys (customer_id, org_id, member_id, id, prefix, hash, ${named})
     select '${acme}', id, id, id, 'tenantry_' || name, '', 'ci', '', '', '{}', '${revision}' from orgs`,
  );
  await migrate(database.writes);
  const fillSome = ([name, { fill }]: (typeof fills)[number]) => fillBatch(database.writes, name, fill, 80);
  expect(await fillSome(required(fills.find(([name]) => name.endsWith("-of-orgs"))))).toBe("filled");
  expect(await findDirectoryDrift(database.reads)).toHaveLength(2 + 120 + 200 + 200);
  // A server renames, deletes and inserts rows that the fill has not reached.
  await run(
    "update orgs set name = 'renamed' where name = 'org-1150'",
    "delete from api_keys where prefix = 'tenantry_org-1151'",
    `insert into orgs (customer_id, id, state, revision, revision_time, ${named}) values
     ('${other}', '${idOf(3)}', 'ACTIVE', '${revision}', now(), 'org-1150', '', '', '{}', '${revision}')`,
  );
  for (const fill of fills) while ((await fillSome(fill)) !== "ended");
  expect(await findDirectoryDrift(database.reads)).toEqual([]);
  const { rows } = await sql`
    select resource_type, count(*)::int from directory group by 1 order by 1`.execute(database.reads);
  expect(rows).toEqual([
    { resource_type: "ApiKey", count: 199 },
    { resource_type: "Customer", count: 2 },
    { resource_type: "Org", count: 402 },
  ]);
});

test("a name leads to whoever has it now, and to nobody after the end of the row", async () => {
  const database = await openTestDatabase();
  const [one, other] = [await addOrg(database, "one"), await addOrg(database, "other")];
  const alice = await addMember(database, one, "alice");
  await addApiKey(database, one, alice, "ci");
  const change = (statement: string) => sql.raw(statement).execute(database.writes);
  const orgOf = (name: string) =>
    database.reads
      .selectFrom("directory")
      .select(["customer_id", "org_id"])
      .where("resource_type", "=", "Org")
      .where("name", "=", name)
      .executeTakeFirst();
  await change("update orgs set name = 'spare' where name = 'one'");
  await change("update orgs set name = 'one' where name = 'other'");
  await change("update orgs set name = 'other' where name = 'spare'");
  expect(await orgOf("one")).toEqual({ customer_id: other.customer_id, org_id: other.id });
  expect(await orgOf("other")).toEqual({ customer_id: one.customer_id, org_id: one.id });
  expect(await orgOf("spare")).toBeUndefined();
  expect(await findDirectoryDrift(database.reads)).toEqual([]);

  await change("delete from api_keys");
  await change(`delete from orgs where id = '${other.id}'`);
  expect(await orgOf("one")).toBeUndefined();
  expect(await findDirectoryDrift(database.reads)).toEqual([]);
  // What is left of a row that is gone keeps nobody from its name.
  await change(`insert into directory values ('Org', 'late', '${one.id}', '${one.id}')`);
  expect(await findDirectoryDrift(database.reads)).toMatchObject([{ name: "late", found: [null, null] }]);
  await addOrg(database, "late");
  expect(await findDirectoryDrift(database.reads)).toEqual([]);
});
