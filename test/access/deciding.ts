// Two orgs in a real database, and decisions about calls of a member of the first one, as the service decides.
import { expect } from "vitest";
import { createAuthorHolds } from "../../src/access/evaluation/author-holds.ts";
import { createViewAuthor } from "../../src/access/evaluation/author-view.ts";
import { type ListVisibility, createAuthorise } from "../../src/access/evaluation/authorise.ts";
import { createViewCaller } from "../../src/access/evaluation/caller-view.ts";
import { compileWithinBudget } from "../../src/access/evaluation/condition-input.ts";
import { createAccessEvaluator } from "../../src/access/evaluation/evaluator.ts";
import { parseTargetPath } from "../../src/access/evaluation/target-path.ts";
import { createSnapshots } from "../../src/access/snapshots/current-snapshots.ts";
import { createOrgHeads } from "../../src/access/snapshots/org-heads.ts";
import type { Database } from "../../src/database/database.ts";
import { required } from "../../src/errors/required.ts";
import { createRecentOrgs } from "../../src/identity/recent-orgs.ts";
import type { Caller } from "../../src/identity/caller.ts";
import { createCallSlices } from "../../src/scheduling/call-slices.ts";
import { type GuardPlace, type PlacedBinding, createGuardPlace } from "./guard-place.ts";
import { names } from "./sample-snapshot.ts";

export const start = "compute.instances.start";
export const listed = (...permissions: string[]) => ({ permissions });
export const roles = {
  starter: listed(start),
  lister: listed("iam.orgs.list", "iam.members.list"),
  explainer: listed("iam.access.explain"),
  binder: listed("iam.roleBindings.create"),
  orgLifter: listed("iam.orgs.activate"),
  impersonator: listed("iam.members.impersonate"),
  lifter: listed("iam.orgs.activate", "iam.projects.activate"),
};

/** The org of the caller, and another one. */
export interface TwoOrgs {
  readonly database: Database;
  readonly ours: GuardPlace;
  readonly theirs: GuardPlace;
}

export async function createTwoOrgs(database: Database): Promise<TwoOrgs> {
  const ours = await createGuardPlace(database, roles);
  return { database, ours, theirs: await createGuardPlace(database, roles) };
}

export const onPlatform = { kind: "platform", id: "" } as const;
export const customerOf = ({ customerId: id }: GuardPlace) => ({ kind: "customer", id }) as const;

export const requirement = (listVisibility: ListVisibility = "never", permission: string = start) => ({
  permission,
  listVisibility,
});

/** The time slices of a call that waits for no other. */
export const alone = createCallSlices(() => undefined);

export const denied = { reason: "PERMISSION_DENIED" };

/** Returns what changes the orgs and decides, of orgs that are created before the first call. */
export function decidingIn(orgs: () => TwoOrgs) {
  const give = (role: keyof typeof roles, more: Partial<PlacedBinding> = {}) =>
    orgs().ours.bind({ role, to: { member: orgs().ours.alice }, ...more });

  /** What the service decides with, anew: it has read nothing yet. */
  function createDeciding() {
    const heads = createOrgHeads(orgs().database, createRecentOrgs());
    const snapshots = createSnapshots({
      database: orgs().database,
      readConnections: 4,
      maxBytes: Infinity,
      predefinedRoles: roles,
      compileCondition: compileWithinBudget,
    });
    const evaluator = createAccessEvaluator({
      database: orgs().database,
      ...names,
      recordUse: () => {},
      systemOrgId: "",
    });
    const authorise = createAuthorise(createViewCaller(snapshots, orgs().database), evaluator);
    return { heads, authorise, authorHolds: createAuthorHolds(createViewAuthor(snapshots, heads), evaluator) };
  }

  async function callerOf(place: GuardPlace, more: Partial<Caller> = {}): Promise<Caller> {
    const { heads } = createDeciding();
    const orgHead = required(await heads([{ by: "id", value: place.orgId }]));
    return {
      memberId: place.alice,
      orgId: place.orgId,
      customerId: orgHead.customer_id,
      credentialId: "",
      credentialExpireTime: null,
      grantsUntil: null,
      clientId: "",
      scopes: undefined,
      projectId: undefined,
      allowedAddresses: undefined,
      impersonator: undefined,
      token: undefined,
      orgHead,
      recentHeads: [],
      time: orgHead.now,
      ...more,
    };
  }

  const decide = async (path: string, more: Partial<Caller> = {}) =>
    createDeciding().authorise(await callerOf(orgs().ours, more), requirement(), parseTargetPath(path, "path"), alone);
  const allowed = (path: string, more: Partial<Caller> = {}): Promise<boolean> =>
    decide(path, more).then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ reason: "PERMISSION_DENIED", metadata: { permission: start } });
        return false;
      },
    );

  const writes = () => orgs().database.writes;
  const suspend = (table: "orgs" | "projects", id: string) =>
    writes().updateTable(table).set({ state: "SUSPENDED" }).where("id", "=", id).execute();
  const label = (table: "orgs" | "projects", id: string, labels: Record<string, string>) =>
    writes()
      .updateTable(table)
      .set({ labels: JSON.stringify(labels) })
      .where("id", "=", id)
      .execute();
  const remove = (table: "orgs" | "projects" | "customers", id: string) =>
    writes().updateTable(table).set({ delete_time: new Date(), purge_time: new Date() }).where("id", "=", id).execute();

  return { give, createDeciding, callerOf, decide, allowed, suspend, label, remove };
}
