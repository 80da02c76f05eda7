// Evaluates who may do what, from the snapshot of the subject's org and the location of the target.
import { createBatcher } from "../../database/batch.ts";
import type { Database } from "../../database/database.ts";
import { patterns } from "../../paths/patterns.ts";
import type { ConditionNames } from "../conditions/condition-path.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { allows, allowsEverywhere, neededEverywhere } from "./allows.ts";
import { type CheckRequest, subjectById } from "./check-request.ts";
import { createResolveElsewhere } from "./resolve-elsewhere.ts";
import { resolveInSnapshot } from "./resolve-in-snapshot.ts";
import { type ResolvedTarget, everywhere } from "./resolved-target.ts";
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

export type HasGuardedOrgs = (check: CheckRequest) => boolean | Promise<boolean>;

export interface AccessEvaluator {
  /** Resolves a path from the view of a snapshot; undefined if its customer or org does not exist. */
  resolve(snapshot: OrgSnapshot, path: TargetPath): Resolved;
  /**
   * Resolves a path if the subject, which is in the snapshot's org, holds the permission on it; undefined if it does not. If
   * grants on the platform decide, the target is `everywhere`, unless its org requires a request of members of the platform. What gives the permission is recorded as
   * used: this is for the decision about a call, and for one that another service asks for before it acts.
   */
  resolveAllowed(snapshot: OrgSnapshot, check: CheckRequest, permission: string, path: TargetPath): Resolved;
  /** Does the same for a question on which nothing is done, as what would be allowed, or was. */
  resolveHeld(snapshot: OrgSnapshot, check: CheckRequest, permission: string, path: TargetPath): Resolved;
  /** Records as used what gives a permission that was decided otherwise. */
  readonly recordUse: RecordUse;
  /** Whether there are orgs in which members of the platform need an approved request. */
  readonly hasGuardedOrgs: HasGuardedOrgs;
}

interface EvaluatorOptions extends ConditionNames {
  readonly database: Database;
  readonly recordUse: RecordUse;
}

const recordsNothing: RecordUse = () => {};

export function createAccessEvaluator({ database, collections, recordUse }: EvaluatorOptions): AccessEvaluator {
  const names = { collections };
  const resolveElsewhere = createResolveElsewhere(database, names);
  const hasGuardedOrgs = createHasGuardedOrgs(database);

  const resolveWith = (record: RecordUse): AccessEvaluator["resolveAllowed"] => {
    const allowsAndRecords: typeof allows = (snapshot, check, permission, target) => {
      if (!allows(snapshot, check, permission, target)) return false;
      record(snapshot, check, permission, target);
      return true;
    };

    const resolveAllowedElsewhere = async (
      snapshot: OrgSnapshot,
      check: CheckRequest,
      permission: string,
      path: TargetPath,
    ): Promise<ResolvedTarget | undefined> => {
      // The snapshot may change during the lookup.
      const subject = subjectById(snapshot, check.subject);
      const target = await resolveElsewhere(path);
      const isAllowed = target !== undefined && allowsAndRecords(snapshot, { ...check, subject }, permission, target);
      return isAllowed ? target : undefined;
    };

    /** Decides for somebody to whom grants on the platform allow everything, but for what is in orgs that require a request. */
    const unlessGuarded = async (
      snapshot: OrgSnapshot,
      check: CheckRequest,
      permission: string,
      path: TargetPath,
      allowEverywhere: (references: ResolvedTarget["references"]) => ResolvedTarget,
    ): Promise<ResolvedTarget | undefined> => {
      if (!(await hasGuardedOrgs(check))) return allowEverywhere(path.references);
      const target = await resolveElsewhere(path);
      // By id from here on, so that a name which passes to such an org meanwhile does not lead there.
      if (target?.support === undefined) return allowEverywhere(target?.references ?? path.references);
      return allowsAndRecords(snapshot, check, permission, target) ? target : undefined;
    };

    return (snapshot, check, permission, path) => {
      // The snapshot comes first: it needs no lookup.
      const target = resolveInSnapshot(names, snapshot, path);
      if (target !== undefined && allowsAndRecords(snapshot, check, permission, target)) return target;
      const { pattern, references } = path;
      const where = pattern[0] === patterns.Org[0] ? "in orgs" : "anywhere";
      if (!allowsEverywhere(snapshot, check, permission, where)) {
        return target === undefined ? resolveAllowedElsewhere(snapshot, check, permission, path) : undefined;
      }
      // The snapshot may change during a lookup.
      const byId = { ...check, subject: subjectById(snapshot, check.subject) };
      const recordEverywhere = (found: ResolvedTarget["references"]): ResolvedTarget => {
        for (const each of neededEverywhere(permission, where)) record(snapshot, byId, each, everywhere);
        return { ...everywhere, pattern, references: found };
      };
      const isOpen = check.hasGuardedOrgs === false || target !== undefined || !isGuardable(path);
      if (isOpen) return recordEverywhere(references);
      return unlessGuarded(snapshot, byId, permission, path, recordEverywhere);
    };
  };

  return {
    resolve: (snapshot, path) => resolveInSnapshot(names, snapshot, path) ?? resolveElsewhere(path),
    resolveAllowed: resolveWith(recordUse),
    resolveHeld: resolveWith(recordsNothing),
    recordUse,
    hasGuardedOrgs,
  };
}

/** Whether a path leads to one org or customer, which may require a request of members of the platform. */
function isGuardable({ pattern: [top], references: [reference] }: TargetPath): boolean {
  const isTop = top === patterns.Org[0] || top === patterns.Customer[0];
  return isTop && reference !== undefined && reference.by !== "any";
}

/** Calls that arrive meanwhile share a statement. */
function createHasGuardedOrgs(database: Database): HasGuardedOrgs {
  const text = "select exists (select from orgs where support_access_required) as has_guarded";
  const lookUp = createBatcher<undefined, boolean>(async (all) => {
    const [row] = await database.readPrepared<{ has_guarded: boolean }>("has_guarded_orgs", text, []);
    return all.map(() => row?.has_guarded === true);
  });
  return (check) => check.hasGuardedOrgs ?? lookUp(undefined);
}
