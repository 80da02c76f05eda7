import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compareStatements } from "../../scripts/statements/compare-statements.ts";
import { describeText, identityOf, normaliseText } from "../../scripts/statements/statement-identity.ts";
import { filesOn15 } from "../support/files-on-15.ts";

describe("the identity of a statement", () => {
  const sending = "src/database/connection-pool.ts submit";
  const text = "update orgs set state = $1";

  test.each([
    ["the function that builds it, and what it does", [sending, "src/iam/a.ts findA", "src/b.ts"], undefined],
    ["the same if connections keep it", [sending, "src/iam/a.ts findA"], "statement_12"],
    [
      "the same if a test replaced the client's method",
      ["test/support/w.ts query", sending, "src/iam/a.ts findA"],
      undefined,
    ],
  ])("is %s", (_what, frames, name) => {
    expect(identityOf({ frames, name, text })).toBe("src/iam/a.ts findA: update orgs");
  });

  test.each([
    ["members_ids_name_id", "lookup members_ids"],
    ["members_0_any_id_12", "lookup members_0"],
    ["caller", "lookup caller"],
    [undefined, "text update orgs set state = ?"],
    ["statement_3", "text update orgs set state = ?"],
  ])("is its name or its text if a batch has left its callers behind: %s", (name, identity) => {
    expect(identityOf({ frames: [sending, "src/database/batch.ts"], name, text })).toBe(identity);
  });

  test("is its name if the wait for a connection has left everything behind", () => {
    expect(identityOf({ frames: [], name: "find_revisions", text })).toBe("lookup find_revisions");
  });

  test.each([
    ["a test through the pool of the service", [sending, "test/a.test.ts", "src/b.ts"]],
    ["nothing of this project", []],
    ["what tests share", ["test/support/w.ts query"]],
  ])("is none if it comes from %s", (_what, frames) => {
    expect(identityOf({ frames, name: undefined, text })).toBeUndefined();
  });
});

test.each([
  ["select * from orgs where id = $1", "select orgs"],
  [
    'select "orgs".*, (select count(*) from members) as count from "orgs" inner join customers on true',
    "select orgs, customers",
  ],
  ["select * from (select id from projects) as p", "select projects"],
  ["select * from unnest($1) as given cross join lateral (select * from orgs) as found", "select unnest"],
  ["select id from orgs where a is distinct from b for no key update", "select orgs"],
  ["select * from orgs where id = $1 for update of orgs", "select orgs"],
  ["insert into orgs (id) values ($1) on conflict (id) do update set name = 'from x'", "insert orgs"],
  ["with counted as (insert into counts values ($1)) insert into orgs (id) values ($2)", "insert counts, insert orgs"],
  ["with r as (delete from api_keys returning id) select id from r", "delete api_keys"],
  ["update orgs set name = $1 from customers", "update orgs"],
  ["begin; set local work_mem = '1MB'", "begin"],
  ["", ""],
])("what a statement does: %s", (text, description) => {
  expect(describeText(text)).toBe(description);
});

test.each([
  ["values", "select 'it''s' where a = 12 and b = $3", "select ? where a = ? and b = ?"],
  ["white space", "\n  select\n    1", "select ?"],
  ["the number of parameters", "id in ($1, $2, $3)", "id in (?)"],
  ["the number of rows", "values ($1, $2), ($3, $4)", "values (?)"],
])("a normalised text does not tell %s", (_what, text, normalised) => {
  expect(normaliseText(text)).toBe(normalised);
});

describe("the comparison", () => {
  const statement = (identity: string, text = identity) => ({ identity, text });
  const record = (file: string, ...identities: readonly string[]) => ({
    file,
    statements: identities.map((identity) => statement(identity)),
  });

  test("names what only the first run sent, with its files", () => {
    const first = [record("b.test.ts", "one", "two"), record("a.test.ts", "two", "three")];
    expect(compareStatements(first, [record("c.test.ts", "one", "three", "four")], [])).toEqual({
      missing: [{ identity: "two", excerpt: "two", files: ["a.test.ts", "b.test.ts"] }],
      unused: [],
    });
  });

  test("accepts a text that another place sent", () => {
    const first = [{ file: "a.test.ts", statements: [statement("one", "commit")] }];
    const second = [{ file: "a.test.ts", statements: [statement("two", "commit")] }];
    expect(compareStatements(first, second, []).missing).toEqual([]);
  });

  test("accepts exceptions, whether or not the second run sent them, and names those of what the first did not send", () => {
    const needed = { start: "src/a.ts", reason: "" };
    const sentByChance = { start: "src/b.ts", reason: "" };
    const gone = { start: "src/c.ts", reason: "" };
    const first = [record("a.test.ts", "src/a.ts findA: select a", "src/b.ts findB: select b")];
    const second = [record("a.test.ts", "src/b.ts findB: select b", "src/c.ts findC: select c")];
    expect(compareStatements(first, second, [needed, sentByChance, gone])).toEqual({ missing: [], unused: [gone] });
  });
});

test.each(filesOn15)("there is %s, which runs on PostgreSQL 15", (pattern) => {
  expect(globSync(pattern, { cwd: join(import.meta.dirname, "../..") })).not.toEqual([]);
});
