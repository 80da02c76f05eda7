// Evaluates who may do what, from the snapshot of the subject's org and the location of the target.
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

export interface AccessEvaluator {
  /** Resolves a path from the view of a snapshot; undefined if its customer or org does not exist. */
  resolve(snapshot: OrgSnapshot, path: TargetPath): Resolved;
  /**
   * Resolves a path if the subject, which is in the snapshot's org, holds the permission on it; undefined if it does not. If
   * grants on the platform decide, the path is not looked up, and the target is `everywhere`. What gives the permission is recorded as
   * used: this is for the decision about a call, and for one that another service asks for before it acts.
   */
  resolveAllowed(snapshot: OrgSnapshot, check: CheckRequest, permission: string, path: TargetPath): Resolved;
  /** Does the same for a question on which nothing is done, as what would be allowed, or was. */
  resolveHeld(snapshot: OrgSnapshot, check: CheckRequest, permission: string, path: TargetPath): Resolved;
  /** Records as used what gives a permission that was decided otherwise. */
  readonly recordUse: RecordUse;
}

interface EvaluatorOptions extends ConditionNames {
  readonly database: Database;
  readonly recordUse: RecordUse;
}

const recordsNothing: RecordUse = () => {};

export function createAccessEvaluator({ database, collections, recordUse }: EvaluatorOptions): AccessEvaluator {
  const names = { collections };
  const resolveElsewhere = createResolveElsewhere(database, names);

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

    return (snapshot, check, permission, path) => {
      // The snapshot comes first: it needs no lookup.
      const target = resolveInSnapshot(names, snapshot, path);
      if (target !== undefined && allowsAndRecords(snapshot, check, permission, target)) return target;
      const { pattern, references } = path;
      const where = pattern[0] === patterns.Org[0] ? "in orgs" : "anywhere";
      if (allowsEverywhere(snapshot, check, permission, where)) {
        for (const each of neededEverywhere(permission, where)) record(snapshot, check, each, everywhere);
        return { ...everywhere, pattern, references };
      }
      return target === undefined ? resolveAllowedElsewhere(snapshot, check, permission, path) : undefined;
    };
  };

  return {
    resolve: (snapshot, path) => resolveInSnapshot(names, snapshot, path) ?? resolveElsewhere(path),
    resolveAllowed: resolveWith(recordUse),
    resolveHeld: resolveWith(recordsNothing),
    recordUse,
  };
}
