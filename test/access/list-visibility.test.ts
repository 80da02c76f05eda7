// Tests what a list across all orgs or projects shows: what its caller may see, on a real database.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ListVisibility } from "../../src/access/evaluation/authorise.ts";
import { unlimited } from "../../src/access/evaluation/visibility.ts";
import type { Database } from "../../src/database/database.ts";
import type { Caller } from "../../src/identity/caller.ts";
import type { Reference } from "../../src/paths/parse-path.ts";
import { type PathPattern, patterns } from "../../src/paths/patterns.ts";
import { openOwnDatabase } from "../support/test-database.ts";
import {
  type TwoOrgs,
  createTwoOrgs,
  customerOf,
  decidingIn,
  denied,
  onPlatform,
  requirement,
  alone,
} from "./deciding.ts";
import { type GuardPlace } from "./guard-place.ts";

let database: Database;
beforeAll(async () => {
  const opened = await openOwnDatabase();
  database = opened.database;
  return opened.close;
});

let orgs: TwoOrgs;
/** The org of the caller, and another one. */
let ours: GuardPlace;
let theirs: GuardPlace;
beforeEach(async () => {
  orgs = await createTwoOrgs(database);
  ({ ours, theirs } = orgs);
});

const { give, createDeciding, callerOf, suspend } = decidingIn(() => orgs);

describe("a list across all orgs", () => {
  const any = { by: "any" } as const;
  const none = { orgIds: [], customerIds: [] };
  const list = async (
    pattern: PathPattern,
    references: readonly Reference[],
    listVisibility: ListVisibility,
    permission = "iam.members.list",
    more: Partial<Caller> = {},
  ) =>
    createDeciding().authorise(
      await callerOf(ours, more),
      requirement(listVisibility, permission),
      { pattern, references },
      alone,
    );

  test("shows the own org, and the orgs of customers, where the caller holds the permission", async () => {
    const inAll = () => list(patterns.Member, [any], "any org");
    await expect(inAll()).rejects.toMatchObject(denied);
    await give("lister", { on: customerOf(theirs) });
    const ofTheirs = { orgIds: [], customerIds: [theirs.customerId] };
    const { target, visible } = await inAll();
    expect(visible).toEqual({ orgs: ofTheirs, suspendedOrgs: none, suspendedProjects: none });
    expect(target).toMatchObject({ pattern: patterns.Member, references: [any], resource: { kind: "platform" } });
    await give("lister");
    await give("starter", { on: customerOf(ours) });
    const ofBoth = { ...ofTheirs, orgIds: [ours.orgId] };
    expect((await inAll()).visible).toMatchObject({ orgs: ofBoth });
    await give("orgLifter", { on: customerOf(theirs) });
    await give("lifter");
    expect((await inAll()).visible).toEqual({
      orgs: ofBoth,
      suspendedOrgs: ofBoth,
      suspendedProjects: { orgIds: [ours.orgId], customerIds: [] },
    });
  });

  test("shows every org with the permission on the platform, but while it is suspended only where the caller may lift that", async () => {
    const inAll = async () => (await list(patterns.Member, [any], "any org")).visible;
    await give("lister", { on: onPlatform });
    // What is in customers that require members of the platform to be approved is left out.
    const all = { orgs: "all", hidesGuarded: true };
    expect(await inAll()).toEqual({ ...all, suspendedOrgs: none, suspendedProjects: none });
    await give("orgLifter", { on: customerOf(theirs) });
    const ofTheirs = { orgIds: [], customerIds: [theirs.customerId] };
    expect(await inAll()).toEqual({ ...all, suspendedOrgs: ofTheirs, suspendedProjects: none });
    await give("lifter", { on: onPlatform });
    expect(await inAll()).toEqual({ ...unlimited, ...all });
  });

  test("does not show what is suspended with a permission to lift that depends on a path, which the list does not have", async () => {
    await give("lister");
    await give("lifter", { condition: `resource.path == "/orgs/${ours.orgName}"` });
    const { visible } = await list(patterns.Member, [any], "any org");
    expect(visible).toMatchObject({ suspendedOrgs: none, suspendedProjects: none });
  });

  test.each<[string, () => GuardPlace]>([
    ["the own org", () => ours],
    ["another org", () => theirs],
  ])("of all projects of %s shows what is in suspended ones to who may lift that", async (_which, place) => {
    const inAll = async () => {
      const references = [{ by: "name", value: place().orgName }, any] as const;
      return (await list(patterns.Project, references, "any org")).visible;
    };
    await give("lister", { on: customerOf(place()) });
    expect(await inAll()).toEqual({ ...unlimited, suspendedProjects: none });
    await give("orgLifter", { on: customerOf(place()) });
    expect(await inAll()).toEqual({ ...unlimited, suspendedProjects: none });
    await give("lifter", { on: customerOf(place()) });
    expect(await inAll()).toEqual(unlimited);
  });

  test("shows what is in the own org while it is suspended only to who may lift that, also with the permission to read it", async () => {
    for (const member of [ours.alice, ours.bob]) await give("lister", { to: { member } });
    await give("orgLifter", { to: { member: ours.bob } });
    await suspend("orgs", ours.orgId);
    const listAs = (memberId: string) => list(patterns.Member, [any], "any org", "iam.members.list", { memberId });
    await expect(listAs(ours.alice)).rejects.toMatchObject(denied);
    const own = { orgIds: [ours.orgId], customerIds: [] };
    expect((await listAs(ours.bob)).visible).toMatchObject({ orgs: own, suspendedOrgs: own });
  });

  test("of orgs shows suspended ones of customers, too", async () => {
    await give("lister", { on: customerOf(theirs) });
    expect((await list([], [], "always", "iam.orgs.list")).visible).toEqual({
      ...unlimited,
      orgs: { orgIds: [], customerIds: [theirs.customerId] },
    });
  });

  test("is denied if the method does not limit it, or the path names one org", async () => {
    await give("lister");
    await expect(list(patterns.Member, [any], "never")).rejects.toMatchObject(denied);
    await expect(list([], [], "any org")).rejects.toMatchObject(denied);
    const own = { orgs: { orgIds: [ours.orgId], customerIds: [] } };
    expect(await list([], [], "always")).toMatchObject({ visible: own });
    expect(await list(patterns.Member, [any], "always")).toMatchObject({ visible: own });
    await expect(list(patterns.Service, [any], "always")).rejects.toMatchObject(denied);
    const one = { by: "name", value: theirs.orgName } as const;
    for (const visibility of ["any org", "always"] as const)
      await expect(list(patterns.Member, [one], visibility)).rejects.toMatchObject(denied);
  });
});
