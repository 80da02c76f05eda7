// Tests which grants on the platform allow a permission on every target without a lookup: suspended ones need more.
import { createRequestConditions } from "../../src/access/evaluation/condition-budget.ts";
import { expect, test } from "vitest";
import { loadRows } from "../../src/access/engine/loading/load-rows.ts";
import { createOrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { allowsEverywhere } from "../../src/access/evaluation/allows.ts";

const [start, ofOrgs, ofProjects] = ["compute.instances.start", "iam.orgs.activate", "iam.projects.activate"] as const;
const [org, customer, member, binding] = [1, 2, 3, 4].map((kind) => `0000000${kind}-0000-7000-8000-000000000000`) as [
  string,
  string,
  string,
  string,
];

test.each([
  { permissions: [start], anywhere: true, inOrgs: false },
  { permissions: [start, ofOrgs], anywhere: true, inOrgs: false },
  { permissions: [start, ofProjects], anywhere: true, inOrgs: false },
  { permissions: [start, ofOrgs, ofProjects], anywhere: true, inOrgs: true },
  { permissions: [ofOrgs, ofProjects], anywhere: false, inOrgs: false },
])("$permissions on the platform: anywhere $anywhere, in orgs $inOrgs", ({ permissions, anywhere, inOrgs }) => {
  const snapshot = createOrgSnapshot({
    org: { id: org, name: "acme", customer_id: customer, state: "ACTIVE", delete_time: null, revision: "7" },
    predefinedRoles: { runner: { permissions } },
    compileCondition: () => () => true,
  });
  loadRows(snapshot, {
    members: [{ id: member, name: "alice", state: "ACTIVE", delete_time: null }],
    role_bindings: [
      {
        id: binding,
        scope_type: "platform",
        scope_id: null,
        subject_type: "member",
        subject_id: member,
        role_id: null,
        predefined_role: "runner",
        start_time: null,
        expire_time: null,
        condition: "",
      },
    ],
  });
  const check = {
    subject: { kind: "member", id: member },
    attributes: {},
    now: Date.UTC(2030, 5, 1),
    counted: "all",
    conditions: createRequestConditions(),
  } as const;
  expect(allowsEverywhere(snapshot, check, start, "anywhere")).toBe(anywhere);
  expect(allowsEverywhere(snapshot, check, start, "in orgs")).toBe(inOrgs);
});
