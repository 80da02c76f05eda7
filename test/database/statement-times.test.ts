import { describe, expect, test } from "vitest";
import { createStatementTimes, nameStatement } from "../../src/database/statement-times.ts";

describe("the name of a statement", () => {
  test.each([
    ['select "id" from "orgs" as "o" where "id" = $1 for update', "select orgs"],
    ["select id from orgs for no key update of orgs", "select orgs"],
    ["\n  select count(*) from (select id from members where true) as counted", "select members"],
    ["with given as (select * from unnest($1::text[])) select id from given join members", "select members"],
    ["with given (a, b) as materialized (select 1, 2) select id from members, given", "select members"],
    ["select set_config('statement_timeout', $1, true)", "select"],
    ['insert into "members" ("id") values ($1) on conflict do update set "id" = $1', "insert members"],
    ["with gone as (delete from sweeps returning org_id) select org_id from gone", "delete sweeps"],
    [
      'with counted as (update resource_counts set count = count + $1 returning (count)) insert into "members" ("id") values ($2)',
      "insert members",
    ],
    ["update api_keys set last_use_time = $1 from unnest($2::uuid[]) as used", "update api_keys"],
    ["select update_time from members", "select members"],
    ["begin; set local lock_timeout = '4213ms'", "begin"],
    ["commit", "commit"],
    ["release savepoint write_1; savepoint write_2", "release"],
    ["analyze (skip_locked) members", "analyze"],
  ])("%s", (text, name) => {
    expect(nameStatement(text)).toBe(name);
  });
});

test("statements are counted by their names, of which there is a bounded number", () => {
  const times = createStatementTimes();
  times.note({ text: "select id from members where id = $1" }, 2);
  times.note({ text: "select name from members" }, 3);
  times.note({ lookup: "find_api_keys", text: "select id from api_keys" }, 1);
  for (let count = 0; count < 2_000; count++) times.note({ text: `select id from table_${count}` }, 1);
  const entries = new Map(times.entries());
  expect(entries.get("select members")).toEqual({ count: 2, totalMs: 5 });
  expect(entries.get("find_api_keys")).toEqual({ count: 1, totalMs: 1 });
  expect(entries.size).toBe(501);
  expect(entries.get("_OTHER")?.count).toBe(2_000 - 498);
});
