// Tests that lists go through an org in steps, and that the org does not change between them.
import { beforeEach, expect, test } from "vitest";
import { explainInSteps } from "../../../src/access/engine/decisions/explain-decision.ts";
import { listResources } from "../../../src/access/engine/decisions/list-resources.ts";
import { listSubjects } from "../../../src/access/engine/decisions/list-subjects.ts";
import { createCallSlices } from "../../../src/scheduling/call-slices.ts";
import type { Steps } from "../../../src/scheduling/steps.ts";
import { loadRows } from "../../../src/access/engine/loading/load-rows.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../../../src/access/engine/org-snapshot.ts";
import { readInSteps } from "../../../src/access/evaluation/read-in-steps.ts";

const count = 1000;
const permission = "compute.instances.start";
const idOf = (kind: number, number = 0): string => `0000000${kind}-0000-7000-8000-${String(number).padStart(12, "0")}`;
const [org, customer, staff, operator] = [idOf(1), idOf(2), idOf(3), idOf(4)];
const resource = { kind: "org", customerId: customer, orgId: org } as const;
const common = { permission, now: 0, contextOf: () => undefined, limit: count };

const binding = {
  id: idOf(7),
  scope_type: "org",
  scope_id: org,
  subject_type: "group",
  subject_id: staff,
  role_id: operator,
  predefined_role: null,
  start_time: null,
  expire_time: null,
  condition: "",
} as const;

let snapshot: OrgSnapshot;

beforeEach(() => {
  const state = { state: "ACTIVE", delete_time: null } as const;
  snapshot = createOrgSnapshot({
    org: { id: org, name: "acme", customer_id: customer, ...state, revision: "7" },
    predefinedRoles: {},
    compileCondition: () => () => true,
  });
  const numbers = Array.from({ length: count }, (_, number) => number);
  loadRows(snapshot, {
    members: numbers.map((number) => ({ id: idOf(5, number), name: `member-${number}`, ...state })),
    groups: [{ id: staff, name: "staff" }],
    projects: numbers.map((number) => ({ id: idOf(6, number), name: `project-${number}`, ...state })),
    roles: [{ id: operator, name: "operator", permissions: [permission] }],
    group_members: numbers.map((number) => ({ group_id: staff, member_id: idOf(5, number), expire_time: null })),
    subgroups: [],
    role_bindings: [binding],
  });
});

function countSteps<Answer>(steps: Steps<Answer>): { readonly steps: number; readonly answer: Answer } {
  for (let number = 1; ; number++) {
    const step = steps.next();
    if (step.done === true) return { steps: number, answer: step.value };
  }
}

test("the members who may are listed in steps", () => {
  const { steps, answer } = countSteps(listSubjects(snapshot, { ...common, resource }));
  expect(steps).toBeGreaterThan(5);
  expect(answer.ids).toHaveLength(count);
});

test("those who can grant a permission that is missing are found in steps", () => {
  const binders = ["iam.roleBindings.create", "iam.access.explain"];
  loadRows(snapshot, { roles: [{ id: idOf(8), name: "binder", permissions: binders }] });
  loadRows(snapshot, { role_bindings: [{ ...binding, id: idOf(9), role_id: idOf(8) }] });
  const query = { ...common, subject: { kind: "member", id: idOf(5) }, permission: "iam.orgs.delete" } as const;
  const options = { maxRoles: 1, maxGrantors: 3, contextOf: () => undefined };
  loadRows(snapshot, { roles: [{ id: idOf(8, 1), name: "deleter", permissions: [query.permission] }] });
  const asked = { ...query, resource, conditionContext: undefined, counted: "all" } as const;
  const steps = explainInSteps(snapshot, asked, options);
  let number = 1;
  while (steps.next().done !== true) number++;
  // A step for each candidate.
  expect(number).toBeGreaterThan(count);
});

test("the projects on which a member may are listed in steps", () => {
  const subject = { kind: "member", id: idOf(5) } as const;
  const query = { ...common, subject, kind: "project", counted: "all" } as const;
  const { steps, answer } = countSteps(listResources(snapshot, query));
  expect(steps).toBeGreaterThan(5);
  expect(answer).toHaveLength(count);
});

test("a change waits until nobody holds the snapshot", async () => {
  const { readHold } = snapshot;
  const releases = [await readHold.hold(), await readHold.hold()];
  let made = 0;
  const change = readHold.change(() => ++made);
  expect(change).toBeInstanceOf(Promise);
  releases[0]?.();
  await Promise.resolve();
  expect(made).toBe(0);
  releases[1]?.();
  expect(await change).toBe(1);
});

test("a change waits for the reads that go on, and is made before the next one", async () => {
  const events: string[] = [];
  let goOn = (): void => undefined;
  const next = (): Promise<void> => new Promise((resolve) => (goOn = resolve));
  const read = (name: string) =>
    readInSteps(
      snapshot,
      function* () {
        events.push(`${name} starts`);
        yield;
        events.push(`${name} ends at ${snapshot.revision}`);
      },
      createCallSlices(next),
    );
  const first = read("first");
  await Promise.resolve();
  const change = snapshot.readHold.change(() => {
    events.push("change");
    snapshot.advanceTo("8");
  });
  const second = read("second");
  await Promise.resolve();
  goOn();
  await Promise.all([first, change]);
  await expect.poll(() => events).toContain("second starts");
  goOn();
  await second;
  expect(events).toEqual(["first starts", "first ends at 7", "change", "second starts", "second ends at 8"]);
});

test("a change is made at once when nobody reads, also after a read has failed", async () => {
  const failing = readInSteps(
    snapshot,
    // oxlint-disable-next-line require-yield -- it fails in its first step
    function* () {
      throw new Error("failed");
    },
    createCallSlices(() => undefined),
  );
  await expect(failing).rejects.toThrow("failed");
  expect(snapshot.readHold.change(() => "made")).toBe("made");
});
