import { expect, test } from "vitest";
import { joinedByOrgAlone } from "../../scripts/statements/joined-by-customer.ts";

test.each<[string, readonly string[]]>([
  ["select from orgs join members on members.org_id = orgs.id", ["members"]],
  ['select from "orgs" join "members" on "orgs"."id" = "members"."org_id"', ["members"]],
  ["select from orgs join members on members.customer_id = orgs.customer_id and members.org_id = orgs.id", []],
  ["select from orgs join members on orgs.customer_id = members.customer_id and orgs.id = members.org_id", []],
  ["select from role_bindings join orgs on orgs.customer_id = role_bindings.customer_id", []],
  [
    "select from role_bindings join orgs on orgs.id = role_bindings.org_id and orgs.customer_id = role_bindings.org_customer_id",
    [],
  ],
  ["select from clients join orgs as client_orgs on client_orgs.id = clients.org_id", ["clients"]],
  // Of the customer of another one.
  [
    "select from orgs, members, groups where members.org_id = orgs.id and groups.customer_id = orgs.customer_id and groups.org_id = orgs.id",
    ["members"],
  ],
  ["select from members join groups on groups.org_id = members.org_id", []],
  ["select from orgs where orgs.id = ?", []],
])("%s", (text, names) => {
  expect(joinedByOrgAlone(text)).toEqual(names);
});
