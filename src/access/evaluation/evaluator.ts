// Evaluates who may do what, from the snapshot of the subject's org and the location of the target.
import type { Database } from "../../database/database.ts";
import { patterns } from "../../paths/patterns.ts";
import type { ConditionNames } from "../conditions/condition-path.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { allows, allowsEverywhere } from "./allows.ts";
import { type CheckRequest, subjectById } from "./check-request.ts";
import { createResolveElsewhere } from "./resolve-elsewhere.ts";
import { resolveInSnapshot } from "./resolve-in-snapshot.ts";
import { type ResolvedTarget, everywhere } from "./resolved-target.ts";
import type { TargetPath } from "./target-path.ts";

/** A promise only if the path leads outside of the snapshot's org. */
type Resolved = ResolvedTarget | undefined | Promise<ResolvedTarget | undefined>;

export interface AccessEvaluator {
  /** Resolves a path from the view of a snapshot; undefined if its customer or org does not exist. */
  resolve(snapshot: OrgSnapshot, path: TargetPath): Resolved;
  /**
   * Resolves a path if the subject, which is in the snapshot's org, holds the permission on it; undefined if it does not. If
   * grants on the platform decide, the path is not looked up, and the target is `everywhere`.
   */
  resolveAllowed(snapshot: OrgSnapshot, check: CheckRequest, permission: string, path: TargetPath): Resolved;
}

interface EvaluatorOptions extends ConditionNames {
  readonly database: Database;
}

export function createAccessEvaluator({ database, collections }: EvaluatorOptions): AccessEvaluator {
  const names = { collections };
  const resolveElsewhere = createResolveElsewhere(database, names);

  const resolveAllowedElsewhere = async (
    snapshot: OrgSnapshot,
    check: CheckRequest,
    permission: string,
    path: TargetPath,
  ): Promise<ResolvedTarget | undefined> => {
    // The snapshot may change during the lookup.
    const subject = subjectById(snapshot, check.subject);
    const target = await resolveElsewhere(path);
    return target !== undefined && allows(snapshot, { ...check, subject }, permission, target) ? target : undefined;
  };

  return {
    resolve: (snapshot, path) => resolveInSnapshot(names, snapshot, path) ?? resolveElsewhere(path),

    resolveAllowed(snapshot, check, permission, path) {
      // The snapshot comes first: it needs no lookup.
      const target = resolveInSnapshot(names, snapshot, path);
      if (target !== undefined && allows(snapshot, check, permission, target)) return target;
      const { pattern, references } = path;
      const where = pattern[0] === patterns.Org[0] ? "in orgs" : "anywhere";
      if (allowsEverywhere(snapshot, check, permission, where)) return { ...everywhere, pattern, references };
      return target === undefined ? resolveAllowedElsewhere(snapshot, check, permission, path) : undefined;
    },
  };
}
