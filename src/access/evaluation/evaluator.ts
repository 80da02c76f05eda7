// Evaluates who may do what, from the snapshot of the subject's org and the location of the target.
import type { Database } from "../../database/database.ts";
import { patterns } from "../../paths/patterns.ts";
import type { ConditionNames } from "../conditions/condition-path.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { allows, allowsEverywhere, neededEverywhere } from "./allows.ts";
import { type CheckRequest, subjectById } from "./check-request.ts";
import { type ResolveElsewhere, createResolveElsewhere } from "./resolve-elsewhere.ts";
import { isOnWhole } from "./support-access.ts";
import { isOperating } from "./support-permissions.ts";
import { findRecentHead } from "../../identity/recent-orgs.ts";
import { resolveInSnapshot } from "./resolve-in-snapshot.ts";
import { type ResolvedTarget, askedAbout, everywhere, toIdReference, toNothing } from "./resolved-target.ts";
import type { TargetPath } from "./target-path.ts";

/** A promise only if the path leads outside of the snapshot's org. */
type Resolved = ResolvedTarget | undefined | Promise<ResolvedTarget | undefined>;

/** Records what gives a permission, from the state of the snapshot in which it was allowed. */
export type RecordUse = (
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  target: ResolvedTarget,
) => void;

export interface AccessEvaluator {
  /** Resolves a path from the view of a snapshot; undefined if its customer or org does not exist. */
  resolve(snapshot: OrgSnapshot, path: TargetPath): Resolved;
  /**
   * Returns a target as it is by now, in no time: the snapshot may have changed since its path was resolved, while somebody waited to read it
   * in steps. One outside of its org stays as it was.
   */
  resolveAgain(snapshot: OrgSnapshot, path: TargetPath, found: ResolvedTarget): ResolvedTarget;
  /**
   * Resolves a path if the subject, which is in the snapshot's org, holds the permission on it; undefined if it does not. If
   * grants on the platform decide, the target is `everywhere`; where a customer may require that these are approved, the path is looked up for
   * that. What gives the permission is recorded as used: this is for the decision about a call.
   */
  resolveAllowed(snapshot: OrgSnapshot, check: CheckRequest, permission: string, path: TargetPath): Resolved;
  /** Does the same for what another service asks before it acts: `askedAbout` says what differs. */
  resolveChecked(snapshot: OrgSnapshot, check: CheckRequest, permission: string, path: TargetPath): Resolved;
  /** Does the same for a question on which nothing is done, as what would be allowed, or was. */
  resolveHeld(snapshot: OrgSnapshot, check: CheckRequest, permission: string, path: TargetPath): Resolved;
  /** Records as used what gives a permission that was decided otherwise. */
  readonly recordUse: RecordUse;
  /** Whether a snapshot is of the org of the platform: only its members can hold anything on the platform. */
  readonly isOfPlatform: (snapshot: OrgSnapshot) => boolean;
}

interface EvaluatorOptions extends ConditionNames {
  readonly database: Database;
  readonly recordUse: RecordUse;
  readonly systemOrgId: string;
}

const recordsNothing: RecordUse = () => {};

/** Returns `allows` for a target as it is to be seen, which records what it has allowed. */
function recording(record: RecordUse, seen: (target: ResolvedTarget) => ResolvedTarget): typeof allows {
  return (snapshot, check, permission, found) => {
    const target = seen(found);
    if (!allows(snapshot, check, permission, target)) return false;
    record(snapshot, check, permission, target);
    return true;
  };
}

export function createAccessEvaluator(options: EvaluatorOptions): AccessEvaluator {
  const { database, recordUse, systemOrgId, ...names } = options;
  const isOfPlatform: AccessEvaluator["isOfPlatform"] = ({ org }) => org.id === systemOrgId;
  const resolveForPlatform = createResolveElsewhere(database, names, true);
  const resolveForOthers = createResolveElsewhere(database, names, false);
  const resolveElsewhere = (snapshot: OrgSnapshot, path: TargetPath) =>
    isOfPlatform(snapshot) ? resolveForPlatform(path) : resolveForOthers(path);

  const resolveWith = (
    record: RecordUse,
    seen: (target: ResolvedTarget) => ResolvedTarget,
  ): AccessEvaluator["resolveAllowed"] => {
    const allowsAndRecords = recording(record, seen);

    const resolveAllowedElsewhere = async (
      snapshot: OrgSnapshot,
      check: CheckRequest,
      permission: string,
      path: TargetPath,
    ): Promise<ResolvedTarget | undefined> => {
      // The snapshot may change during the lookup.
      const subject = subjectById(snapshot, check.subject);
      const target = await resolveElsewhere(snapshot, path);
      const isAllowed = target !== undefined && allowsAndRecords(snapshot, { ...check, subject }, permission, target);
      return isAllowed ? target : undefined;
    };

    const unlessGuarded = createUnlessGuarded(resolveForPlatform, allowsAndRecords);

    return (snapshot, check, permission, path) => {
      // The snapshot comes first: it needs no lookup.
      const target = resolveInSnapshot(names, snapshot, path);
      if (target !== undefined && allowsAndRecords(snapshot, check, permission, target)) return target;
      const where = path.pattern[0] === patterns.Org[0] ? "in orgs" : "anywhere";
      if (!allowsEverywhere(snapshot, check, permission, where)) {
        return target === undefined ? resolveAllowedElsewhere(snapshot, check, permission, path) : undefined;
      }
      // The snapshot may change during a lookup.
      const byId = { ...check, subject: subjectById(snapshot, check.subject) };
      const allowEverywhere = (found: ResolvedTarget["references"]): ResolvedTarget => {
        for (const each of neededEverywhere(permission, where)) record(snapshot, byId, each, everywhere);
        return { ...everywhere, pattern: path.pattern, references: found };
      };
      if (target !== undefined || isOpenToPlatform(permission, path)) return allowEverywhere(path.references);
      return unlessGuarded(snapshot, byId, permission, path, allowEverywhere);
    };
  };

  return {
    resolve: (snapshot, path) => resolveInSnapshot(names, snapshot, path) ?? resolveElsewhere(snapshot, path),
    resolveAgain: (snapshot, path, found) => resolveInSnapshot(names, snapshot, path) ?? found,
    resolveAllowed: resolveWith(recordUse, (target) => target),
    resolveChecked: resolveWith(recordUse, askedAbout),
    resolveHeld: resolveWith(recordsNothing, askedAbout),
    recordUse,
    isOfPlatform,
  };
}

/**
 * Decides for somebody to whom grants on the platform allow everything, but for what a customer requires to be approved. What the path leads to is by
 * its id from here on, also if it does not exist, so that a name which passes to such an org meanwhile does not lead there.
 */
function createUnlessGuarded(resolveForPlatform: ResolveElsewhere, allowed: typeof allows) {
  return (
    snapshot: OrgSnapshot,
    check: CheckRequest,
    permission: string,
    path: TargetPath,
    allowEverywhere: (references: ResolvedTarget["references"]) => ResolvedTarget,
  ): Resolved => {
    const known = knownAsUnguarded(check, path);
    if (known !== undefined) return allowEverywhere(known);
    return resolveForPlatform(path).then((target) => {
      if (target?.support === undefined) return allowEverywhere(target?.references ?? toNothing(path.references));
      return allowed(snapshot, check, permission, target) ? target : undefined;
    });
  };
}

/** For how long it holds that an org approves nothing, in milliseconds: a call that lasts longer asks again. */
const knownForMs = 1_000;

/** Returns a path with the org by its id, if it was read with the caller that its customer requires no approval; undefined otherwise. */
function knownAsUnguarded(
  { recentHeads = [] }: CheckRequest,
  { pattern, references: [org, ...below] }: TargetPath,
): ResolvedTarget["references"] | undefined {
  if (pattern[0] !== patterns.Org[0] || org === undefined || org.by === "any") return undefined;
  const head = findRecentHead({ recentHeads }, org);
  if (head === undefined || head.isGuarded || performance.now() - head.readAt > knownForMs) return undefined;
  return [toIdReference(org, head.id), ...below];
}

/** Whether no customer can require approval: the path leads to no single one, or the platform needs the permission to operate. */
function isOpenToPlatform(permission: string, { pattern, references: [reference] }: TargetPath): boolean {
  const isInCustomer = pattern[0] === patterns.Org[0] || pattern[0] === patterns.Customer[0];
  const isSingle = reference !== undefined && reference.by !== "any";
  return !isInCustomer || !isSingle || isOperating(permission, isOnWhole(pattern));
}
