// What a read shows. A path that names its org and project is decided as a whole, with their suspensions. A path with `-` in place
// of one of them is decided on what is above it, and leads to orgs and projects that nobody has looked at. So the read itself
// leaves out what is in suspended ones, unless the caller may lift the suspension.
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import { patterns } from "../../paths/patterns.ts";
import { allows, lifting } from "./allows.ts";
import type { CheckRequest } from "./check-request.ts";
import type { RecordUse } from "./evaluator.ts";
import { isOnWhole } from "./support-access.ts";
import { isOperating } from "./support-permissions.ts";
import { projectIn } from "./resolve-in-snapshot.ts";
import { type ResolvedTarget, everywhere, everywhereIn } from "./resolved-target.ts";
import type { TargetPath } from "./target-path.ts";

/** The orgs with these ids, and those of these customers. */
export interface SomeOrgs {
  readonly orgIds: readonly string[];
  readonly customerIds: readonly string[];
}

export type OrgSet = "all" | SomeOrgs;

/** What a read shows of what its path leads to. */
export interface Visibility {
  /** In which orgs. */
  readonly orgs: OrgSet;
  /** In which orgs while they are suspended. */
  readonly suspendedOrgs: OrgSet;
  /** Of which orgs the suspended projects. */
  readonly suspendedProjects: OrgSet;
  /** Set if what is in customers that require members of the platform to be approved is left out: such an org is read by its path. */
  readonly hidesGuarded?: true;
}

/** For reads whose path was decided as a whole, what is in no org, and callers who see everything. No other value says the same. */
export const unlimited: Visibility = Object.freeze({ orgs: "all", suspendedOrgs: "all", suspendedProjects: "all" });

const noOrgs: SomeOrgs = { orgIds: [], customerIds: [] };

/** For reads whose path leads nowhere. */
export const nothing: Visibility = { orgs: noOrgs, suspendedOrgs: noOrgs, suspendedProjects: noOrgs };

export function isUnlimited(visible: Visibility): boolean {
  return visible === unlimited;
}

/**
 * Returns what a caller sees through a path on which it holds the permission to read. What lets it see what is suspended is recorded as used,
 * whether or not anything is.
 *
 * @param permission to read; undefined if there is none for all that the path leads to.
 */
export function visibilityOf(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string | undefined,
  target: ResolvedTarget,
  record: RecordUse,
): Visibility {
  const visible = openOf(snapshot, check, target, record);
  const { pattern, references } = target;
  // Who reads all orgs or customers does so by what it holds on the platform.
  const isOfAll = references[0]?.by === "any" && pattern[0] !== patterns.Service[0];
  const isOperated = permission !== undefined && isOperating(permission, isOnWhole(pattern));
  return isOfAll && !isOperated ? { ...visible, hidesGuarded: true } : visible;
}

function openOf(snapshot: OrgSnapshot, check: CheckRequest, target: ResolvedTarget, record: RecordUse): Visibility {
  if (isForAnyOrg(target)) return visibilityIn(snapshot, check, "all", record);
  if (projectIn(target)?.by !== "any" || usesIn(snapshot, check, lifting.project, target.resource, record))
    return unlimited;
  // The path names the org, so its suspension was decided.
  return { ...unlimited, suspendedProjects: noOrgs };
}

/** Returns what a caller sees through `-` in place of the org, which holds the permission to read in these orgs. */
export function visibilityIn(snapshot: OrgSnapshot, check: CheckRequest, orgs: OrgSet, record: RecordUse): Visibility {
  const suspendedOrgs = orgsToLift(snapshot, check, lifting.org, record);
  const suspendedProjects = orgsToLift(snapshot, check, lifting.project, record);
  const isAll = orgs === "all" && suspendedOrgs === "all" && suspendedProjects === "all";
  return isAll ? unlimited : { orgs, suspendedOrgs, suspendedProjects };
}

/** Reports whether a path has `-` in place of an org. */
export function isForAnyOrg({ pattern, references: [top] }: TargetPath): boolean {
  return pattern[0] === patterns.Org[0] && top?.by === "any";
}

/** Returns the customers on which a caller holds a permission. What gives it there is recorded as used. */
export function customersWhere(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  record: RecordUse,
): readonly string[] {
  const uses = (customerId: string): boolean =>
    usesIn(snapshot, check, permission, { kind: "customer", customerId }, record);
  return snapshot.scopes.outerIds("customer").filter(uses);
}

function orgsToLift(snapshot: OrgSnapshot, check: CheckRequest, permission: string, record: RecordUse): OrgSet {
  if (usesIn(snapshot, check, permission, everywhere.resource, record)) return "all";
  const { id: orgId, customerId } = snapshot.org;
  const isOwn = usesIn(snapshot, check, permission, { kind: "org", customerId, orgId }, record);
  return { orgIds: isOwn ? [orgId] : [], customerIds: customersWhere(snapshot, check, permission, record) };
}

/** Reports whether a caller holds a permission, and records what gives it. */
function usesIn(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  resource: TargetScope,
  record: RecordUse,
): boolean {
  const target = everywhereIn(resource);
  const isHeld = allows(snapshot, check, permission, target);
  if (isHeld) record(snapshot, check, permission, target);
  return isHeld;
}
