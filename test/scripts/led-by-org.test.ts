import { expect, test } from "vitest";
import { tablesNotLed } from "../../scripts/statements/led-by-org.ts";
import { normaliseText } from "../../scripts/statements/statement-identity.ts";

const ofOrgs = new Set(["members", "groups", "sessions", "quotas", "role_bindings"]);

test.each<[string, readonly string[]]>([
  ["select * from members where org_id = $1 and id = $2", []],
  ["select * from members where id = $1", ["members"]],
  ['select * from "members" where "members"."org_id" = $1', []],
  ["select * from members as m where m.org_id = any ($1::uuid[])", []],
  ["select * from members where org_id in ($1, $2)", []],
  ["select * from members where org_id not in ($1, $2)", ["members"]],
  ["select * from members where (members.org_id, members.id) = ($1::uuid, $2::uuid)", []],
  ["select * from members where (org_id, id) in (select * from unnest($1::uuid[], $2::uuid[]))", []],
  // Led by another table, or by what was computed before.
  ["select * from orgs join members on members.org_id = orgs.id where orgs.id = $1", []],
  ["select * from orgs join members on members.org_id = orgs.id where orgs.name = $1", []],
  ["select * from orgs join members on members.org_id = orgs.id where orgs.state = $1", ["orgs", "members"]],
  [
    "select * from members join sessions on sessions.org_id = members.org_id where sessions.id = $1",
    ["members", "sessions"],
  ],
  ["select * from groups join members on members.id = groups.id where groups.org_id = $1", ["members"]],
  ["with a as (select id from orgs where id = $1) select * from members join a on members.org_id = a.id", []],
  [
    "with a as (select * from sessions where id = $1) select * from members join a on members.org_id = a.org_id",
    ["sessions"],
  ],
  [
    "select * from unnest($1::uuid[]) as given (org_id) cross join lateral (select * from members where org_id = given.org_id) as m",
    [],
  ],
  ["select * from members join unnest($1::uuid[], $2::uuid[]) as wanted (org_id, id) using (org_id, id)", []],
  ["select * from members join groups using (org_id, id) where groups.org_id = $1", []],
  // By a customer.
  ["select * from quotas where customer_id = $1 and scope_id = $2", []],
  ["select id from orgs where customer_id = $1", []],
  ["select * from customers join orgs on orgs.customer_id = customers.id where customers.name = $1", []],
  ["select * from customers join orgs on orgs.customer_id = customers.id", ["orgs"]],
  ["select * from role_bindings where org_customer_id = $1", []],
  ["select * from role_bindings where customer_id = $1", ["role_bindings"]],
  // In each select of its own.
  ["select * from members where org_id = $1 union all select * from members where id = $2", ["members"]],
  ["select (select count(*) from groups where groups.org_id = members.org_id) from members where org_id = $1", []],
  ["select * from members where org_id = $1 and exists (select from groups where groups.id = members.id)", ["groups"]],
  // Writes.
  ["insert into members (org_id, id) values ($1, $2) on conflict (org_id, id) do update set name = $3", []],
  ["insert into members select * from groups where id = $1", ["groups"]],
  ["update members set name = $1 where org_id = $2", []],
  [
    "update members set name = $1 from groups, sessions where groups.org_id = members.org_id and members.org_id = $2",
    ["sessions"],
  ],
  [
    "delete from sessions using members where sessions.id = $1 and members.org_id = sessions.org_id",
    ["sessions", "members"],
  ],
  ["update orgs set revision = $1 where id = $2 and revision = $3", []],
  ["select id from orgs where id = $1 for no key update of orgs", []],
  // What is of no org, and words that look like tables.
  ["select extract(epoch from clock_timestamp()) from customers where customers.id is distinct from $1", []],
])("neither an org nor a customer leads in: %s", (text, tables) => {
  expect(tablesNotLed(normaliseText(text), ofOrgs)).toEqual(tables);
});
