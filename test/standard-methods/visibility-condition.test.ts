// Tests which rows a read shows, for each state of their org and project.
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { type Visibility, unlimited } from "../../src/access/evaluation/visibility.ts";
import { orgLevel, projectLevel } from "../../src/database/match-reference.ts";
import type { OrgRow } from "../../src/iam/orgs/store.ts";
import { visibilityCondition } from "../../src/standard-methods/read/visibility-condition.ts";
import { addOrg } from "../database/sample-rows.ts";
import { useSharedDatabase } from "../database/shared-database.ts";

const shared = useSharedDatabase();
const none = { orgIds: [], customerIds: [] };
let org: OrgRow;
beforeAll(async () => {
  org = await addOrg(shared(), "acme");
});

/** The states of an org, and those of a project in it. */
const states = ["ACTIVE ACTIVE", "ACTIVE SUSPENDED", "SUSPENDED ACTIVE", "SUSPENDED SUSPENDED"];

async function shownIn(visible: Visibility, containers = [orgLevel, projectLevel]): Promise<string[]> {
  const condition = visibilityCondition(visible, containers) ?? sql`true`;
  const { rows } = await sql<{ states: string }>`
    select orgs.state || ' ' || projects.state as states
    from (values ('ACTIVE'), ('SUSPENDED')) as state_of_org (state)
    cross join lateral (select id, customer_id, state_of_org.state from orgs where id = ${org.id}) as orgs
    cross join (values ('ACTIVE'), ('SUSPENDED')) as projects (state)
    where ${condition} order by states`.execute(shared().reads);
  return rows.map((row) => row.states);
}

const own = () => ({ orgIds: [org.id], customerIds: [] });
const ofCustomer = () => ({ orgIds: [], customerIds: [org.customer_id] });

test.each<[string, () => Visibility, readonly string[]]>([
  ["everything", () => unlimited, states],
  ["nothing of other orgs", () => ({ ...unlimited, orgs: none }), []],
  ["the org by its id", () => ({ ...unlimited, orgs: own() }), states],
  ["the orgs of a customer", () => ({ ...unlimited, orgs: ofCustomer() }), states],
  ["nothing suspended", () => ({ orgs: "all", suspendedOrgs: none, suspendedProjects: none }), states.slice(0, 1)],
  ["no suspended org", () => ({ ...unlimited, suspendedOrgs: none }), states.slice(0, 2)],
  [
    "a suspended org, and no suspended project in it or elsewhere",
    () => ({ orgs: "all", suspendedOrgs: own(), suspendedProjects: none }),
    states.filter((each) => each.endsWith(" ACTIVE")),
  ],
  [
    "suspended projects, and no suspended org",
    () => ({ orgs: "all", suspendedOrgs: none, suspendedProjects: ofCustomer() }),
    states.slice(0, 2),
  ],
  ["no more than the orgs", () => ({ orgs: none, suspendedOrgs: own(), suspendedProjects: own() }), []],
])("shows %s", async (_what, visible, expected) => {
  expect(await shownIn(visible())).toEqual(expected);
});

test("shows a project itself, whatever its state", async () => {
  const visible: Visibility = { orgs: "all", suspendedOrgs: none, suspendedProjects: none };
  expect(await shownIn(visible, [orgLevel])).toEqual(states.slice(0, 2));
});
