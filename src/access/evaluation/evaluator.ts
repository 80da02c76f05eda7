// Evaluates who may do what, from the snapshot of the subject's org and from where the target is.
import type { Database } from "../../database/database.ts";
import { patterns } from "../../paths/patterns.ts";
import type { ConditionNames } from "../conditions/condition-path.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { OrgHeads } from "../snapshots/org-heads.ts";
import { allows, allowsEverywhere } from "./allows.ts";
import { type Question, subjectById } from "./question.ts";
import { createResolveElsewhere } from "./resolve-elsewhere.ts";
import { resolveInSnapshot } from "./resolve-in-snapshot.ts";
import { type ResolvedTarget, everywhere } from "./resolved-target.ts";
import type { TargetPath } from "./target-path.ts";

/** There is something to wait for only where a path goes outside of the snapshot's org. */
type Resolved = ResolvedTarget | undefined | Promise<ResolvedTarget | undefined>;

export interface AccessEvaluator {
  /** Finds what a path names, as seen from a snapshot; undefined when it is not there. */
  resolve(snapshot: OrgSnapshot, path: TargetPath): Resolved;
  /**
   * Finds what a path names if the subject, of the snapshot's org, holds the permission there; undefined when it does not. Where
   * what is granted on the platform decides, the path is not looked for: the target is everywhere.
   */
  resolveAllowed(snapshot: OrgSnapshot, question: Question, permission: string, path: TargetPath): Resolved;
}

interface EvaluatorOptions extends ConditionNames {
  readonly database: Database;
  readonly heads: OrgHeads;
}

export function createAccessEvaluator({ database, heads, collections }: EvaluatorOptions): AccessEvaluator {
  const names = { collections };
  const resolveElsewhere = createResolveElsewhere(database, heads, names);

  const resolveAllowedElsewhere = async (
    snapshot: OrgSnapshot,
    question: Question,
    permission: string,
    path: TargetPath,
  ): Promise<ResolvedTarget | undefined> => {
    // The snapshot may be moved forward meanwhile.
    const subject = subjectById(snapshot, question.subject);
    const target = await resolveElsewhere(path);
    return target !== undefined && allows(snapshot, { ...question, subject }, permission, target) ? target : undefined;
  };

  return {
    resolve: (snapshot, path) => resolveInSnapshot(names, snapshot, path) ?? resolveElsewhere(path),

    resolveAllowed(snapshot, question, permission, path) {
      // What is nearest first: nothing has to be waited for.
      const target = resolveInSnapshot(names, snapshot, path);
      if (target !== undefined && allows(snapshot, question, permission, target)) return target;
      const { pattern, references } = path;
      const where = pattern[0] === patterns.Org[0] ? "in orgs" : "anywhere";
      if (allowsEverywhere(snapshot, question, permission, where)) return { ...everywhere, pattern, references };
      return target === undefined ? resolveAllowedElsewhere(snapshot, question, permission, path) : undefined;
    },
  };
}
