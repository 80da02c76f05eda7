// Tests what a denied caller learns, from a snapshot alone. Over the API: denials.test.ts.
import { describe, expect, test } from "vitest";
import { explainDenial } from "../../src/access/evaluation/explain-denial.ts";
import { resolveInSnapshot } from "../../src/access/evaluation/resolve-in-snapshot.ts";
import { onPlatform } from "../../src/access/evaluation/resolved-target.ts";
import { parseTargetPath } from "../../src/access/evaluation/target-path.ts";
import { runSteps } from "../../src/scheduling/steps.ts";
import {
  type SampleBinding,
  bob,
  checkOf,
  createSampleSnapshot,
  customer,
  idOf,
  names,
  onCustomer,
  onPlatform as boundOnPlatform,
  onProject,
  paused,
  web,
} from "./sample-snapshot.ts";

const start = "compute.instances.start";
const lacks = `the caller lacks the permission ${start} on this resource`;
/** Where members of the org ask for access in it, whether or not what they may not see exists. */
const asks = { access_requests: "/orgs/acme/accessRequests" };
const nothing = { message: `${lacks} (or it might not exist)`, metadata: { permission: start } };
const smallest = `${lacks}; the smallest role that holds it is /roles/operator`;

const roles = {
  operator: { permissions: [start] },
  larger: { permissions: [start, "iam.projects.get"] },
  explainer: { permissions: ["iam.access.explain"] },
  lifter: { permissions: ["iam.access.explain", "iam.orgs.activate"] },
  binder: { permissions: ["iam.roleBindings.create"] },
  unheld: { permissions: ["iam.roleBindings.grantUnheld"] },
  granter: { permissions: ["iam.roleBindings.create", "iam.roleBindings.grantUnheld"] },
};
interface Bound extends SampleBinding {
  readonly role: keyof typeof roles;
}

const bindings: Bound[] = [{ role: "explainer" }];

const explain = (
  bound: readonly Bound[],
  path: string,
  { state, ...more }: { state?: "SUSPENDED" } & Partial<ReturnType<typeof checkOf>> = {},
) => {
  const snapshot = createSampleSnapshot(roles, bound, state && { state });
  const target = resolveInSnapshot(names, snapshot, parseTargetPath(path, "path"));
  return runSteps(explainDenial(snapshot, { ...checkOf(), ...more }, start, target));
};

describe("a caller who can see access learns", () => {
  test("the smallest role with the permission", () => {
    expect(explain(bindings, "/orgs/acme")).toEqual({
      message: smallest,
      metadata: { permission: start, role: "/roles/operator", ...asks },
    });
  });

  test("who can grant it", () => {
    expect(explain([...bindings, { role: "granter", to: bob }, { role: "granter" }], "/orgs/acme/a/b")).toEqual({
      message: `${smallest}; /orgs/acme/members/alice, /orgs/acme/members/bob can grant it`,
      metadata: {
        permission: start,
        role: "/roles/operator",
        granters: "/orgs/acme/members/alice /orgs/acme/members/bob",
        ...asks,
      },
    });
  });

  test("who can grant it under a condition that holds there", () => {
    const always: Bound[] = [
      { role: "explainer", on: boundOnPlatform },
      // What it grants must be held without a condition.
      { role: "unheld", to: bob, on: boundOnPlatform },
    ];
    const grantersOn = (condition: string, path: string, on?: Bound["on"]) =>
      explain([...always, { role: "binder", to: bob, condition, ...(on && { on }) }], path).metadata["granters"];
    expect(grantersOn('resource.path == "/orgs/acme"', "/orgs/acme/a/b")).toBe("/orgs/acme/members/bob");
    expect(grantersOn('resource.path == "/orgs/acme/a/b"', "/orgs/acme/a/b")).toBeUndefined();
    expect(grantersOn('resource.path == "/orgs/acme/projects/web"', "/orgs/acme/projects/web/a/b")).toBe(
      "/orgs/acme/members/bob",
    );
    expect(grantersOn('resource.path == "/orgs/acme"', "/orgs/acme/projects/web")).toBeUndefined();
    expect(grantersOn('subject.path == "/orgs/acme/members/bob"', "/orgs/acme")).toBe("/orgs/acme/members/bob");
    expect(grantersOn('subject.type == "member"', "/orgs/acme")).toBe("/orgs/acme/members/bob");
    expect(grantersOn("context.vip", "/orgs/acme")).toBeUndefined();
    expect(grantersOn('resource.path == ""', "", boundOnPlatform)).toBe("/orgs/acme/members/bob");
  });

  test("no role if none can hold it", () => {
    const snapshot = createSampleSnapshot({ explainer: roles.explainer }, bindings);
    const target = resolveInSnapshot(names, snapshot, parseTargetPath("/orgs/acme", "path"));
    const denial = runSteps(explainDenial(snapshot, checkOf(), "iam.orgs.delete", target));
    expect(denial).toEqual({
      message: "the caller lacks the permission iam.orgs.delete on this resource",
      metadata: { permission: "iam.orgs.delete", ...asks },
    });
  });

  test("that the resource is suspended, if it holds the permission there", () => {
    const both: Bound[] = [{ role: "explainer" }, { role: "operator" }];
    const state = { permission: start, state: "SUSPENDED" };
    expect(explain(both, "/orgs/acme", { state: "SUSPENDED" })).toEqual({
      message: `${lacks} while the org is SUSPENDED`,
      metadata: state,
    });
    expect(explain(both, "/orgs/acme/projects/paused")).toEqual({
      message: `${lacks} while the project is SUSPENDED`,
      metadata: { ...state, ...asks },
    });
  });

  test("which suspension keeps it out: of the project, if it may lift that of the org", () => {
    const both: Bound[] = [{ role: "lifter" }, { role: "operator" }];
    const { message } = explain(both, "/orgs/acme/projects/paused/a/b", { state: "SUSPENDED" });
    expect(message).toBe(`${lacks} while the project is SUSPENDED`);
    const neither = explain([{ role: "explainer" }, { role: "operator" }], "/orgs/acme/projects/paused", {
      state: "SUSPENDED",
    });
    expect(neither.message).toBe(`${lacks} while the org is SUSPENDED`);
  });

  test("the role but no grantors on a suspended resource, if it may lift the suspension", () => {
    const bound: Bound[] = [{ role: "lifter" }, { role: "granter", to: bob }];
    expect(explain(bound, "/orgs/acme", { state: "SUSPENDED" }).metadata).toEqual({
      permission: start,
      role: "/roles/operator",
    });
    expect(explain(bindings, "/orgs/acme", { state: "SUSPENDED" })).toEqual(nothing);
  });
});

describe("a caller learns nothing more", () => {
  test("without the permission to see access, or about what does not exist", () => {
    const inOwn = { ...nothing, metadata: { ...nothing.metadata, ...asks } };
    expect(explain([{ role: "granter" }], "/orgs/acme")).toEqual(inOwn);
    expect(explain([{ role: "explainer", on: onProject(web) }], "/orgs/acme/projects/paused")).toEqual(inOwn);
    expect(explain([{ role: "operator" }], "/orgs/acme", { state: "SUSPENDED" })).toEqual(nothing);
    expect(explain([{ role: "explainer", on: boundOnPlatform }], "/orgs/nowhere")).toEqual(nothing);
  });

  test("about the path of another org: a grantor is one whose condition needs none", () => {
    const snapshot = createSampleSnapshot(roles, [
      { role: "explainer", on: onCustomer },
      { role: "unheld", to: bob, on: onCustomer },
      { role: "unheld", on: onCustomer },
      { role: "binder", to: bob, on: onCustomer, condition: 'resource.path == ""' },
      { role: "binder", on: onCustomer, condition: 'resource.path.startsWith("/orgs")' },
    ]);
    const target = { ...onPlatform, resource: { kind: "org", customerId: customer, orgId: idOf(99) } } as const;
    expect(runSteps(explainDenial(snapshot, checkOf(), start, target)).metadata).toEqual({
      permission: start,
      role: "/roles/operator",
      granters: "/orgs/acme/members/bob",
    });
  });
});

describe("with a narrowed credential, a caller learns what it leaves out, if the member holds the permission", () => {
  const none = { scopes: undefined, projectId: undefined };
  const message = (why: string): string =>
    `the caller's member holds the permission ${start} on this resource, but its API key or token is narrowed: ${why}`;
  test.each([
    ["scope", { ...none, scopes: ["iam.*"] }, "its scopes do not include it"],
    ["project", { ...none, projectId: paused }, "it is for another project"],
    ["impersonator", { ...none, impersonatorId: bob }, "the member that impersonates it does not hold the permission"],
    ["scope", { scopes: ["iam.*"], projectId: undefined, impersonatorId: bob }, "its scopes do not include it"],
  ] as const)("%s", (leftOut, narrowing, why) => {
    expect(explain([{ role: "operator" }], "/orgs/acme", { narrowing })).toEqual({
      message: message(why),
      metadata: { permission: start, narrowed_by: leftOut },
    });
    expect(explain([], "/orgs/acme", { narrowing })).toEqual(nothing);
    expect(explain([{ role: "operator", on: boundOnPlatform }], "/orgs/nowhere", { narrowing })).toEqual(nothing);
  });
});

test("with a limited credential, a caller learns that it is limited", () => {
  const counted = { ids: new Set<string>(), revisions: ["7"] };
  const limited =
    "its API key is limited: it counts only what the member held when another member created it, until the member or an owner of the org confirms it";
  expect(explain([{ role: "operator" }], "/orgs/acme", { counted })).toEqual({
    message: `${nothing.message}; ${limited}`,
    metadata: { permission: start, limited: "true", ...asks },
  });
});
