import { ServiceError } from "../errors/service-error.ts";
import type { Caller } from "../identity/caller.ts";
import { patterns } from "../paths/patterns.ts";
import type { OrgSnapshot } from "./engine/org-snapshot.ts";
import { allows, allowsEverywhere, lifting } from "./evaluation/allows.ts";
import type { AccessEvaluator } from "./evaluation/evaluator.ts";
import { explainDenial } from "./evaluation/explain-denial.ts";
import { type Question, questionOf } from "./evaluation/question.ts";
import { resolveById } from "./evaluation/resolve-in-snapshot.ts";
import { type ResolvedTarget, everywhere, everywhereIn } from "./evaluation/resolved-target.ts";
import type { TargetPath } from "./evaluation/target-path.ts";
import type { Snapshots } from "./snapshots/snapshots.ts";

/** What of all orgs a caller may list: these, and those of these customers. */
export interface VisibleOrgs {
  readonly orgIds: readonly string[];
  readonly customerIds: readonly string[];
  /** Those of these customers whose suspended orgs are shown, too. */
  readonly suspendedOf: readonly string[];
}

export type Trims = "never" | "any org" | "always";

const listOrgs = "iam.orgs.list";

/** What a method asks for. */
interface Requirement {
  readonly permission: string;
  /**
   * Which of its calls list what is in all orgs: those with `-` for the org, or all. A caller who may not do that is shown
   * what is in the orgs where it may.
   */
  readonly trims: Trims;
}

/** What a call was authorised on. */
export interface Authorised {
  readonly target: ResolvedTarget;
  /** What a list of all orgs may show; left out for everything. */
  readonly visible?: VisibleOrgs;
}

export interface Authorise {
  /**
   * Resolves a path if the caller holds a permission there. It does not ask whether the resource itself exists: that is not the
   * business of those who may not see it (AIP-211).
   *
   * @throws ServiceError PERMISSION_DENIED
   */
  (caller: Caller, requirement: Requirement, path: TargetPath): Promise<Authorised>;
  /** Makes sure that the caller holds a permission on each of several paths. */
  readonly all: (caller: Caller, permission: string, paths: readonly TargetPath[]) => Promise<void>;
}

export function createAuthorise(snapshots: Snapshots, evaluator: AccessEvaluator): Authorise {
  const deny = async (
    snapshot: OrgSnapshot,
    question: Question,
    permission: string,
    path: TargetPath,
  ): Promise<never> => {
    const { message, metadata } = explainDenial(
      snapshot,
      question,
      permission,
      await evaluator.resolve(snapshot, path),
    );
    throw new ServiceError("PERMISSION_DENIED", message, { metadata });
  };

  const authorise = async (
    caller: Caller,
    { permission, trims }: Requirement,
    path: TargetPath,
  ): Promise<Authorised> => {
    const snapshot = await snapshots.at(caller.orgId, caller.orgRevision);
    const question = questionOf(caller);
    const target = await evaluator.resolveAllowed(snapshot, question, permission, path);
    if (target !== undefined) return { target };
    if (isTrimmed(trims, path)) {
      const visible = visibleOrgs(snapshot, question, permission);
      const { pattern, references } = path;
      if (visible.orgIds.length + visible.customerIds.length > 0) {
        return { target: { ...everywhere, pattern, references }, visible };
      }
    }
    return deny(snapshot, question, permission, path);
  };

  const all: Authorise["all"] = async (caller, permission, paths) => {
    const snapshot = await snapshots.at(caller.orgId, caller.orgRevision);
    const question = questionOf(caller);
    if (allowsEverywhere(snapshot, question, permission, "in orgs")) return;
    for (const path of paths) {
      const target = await evaluator.resolveAllowed(snapshot, question, permission, path);
      if (target === undefined) await deny(snapshot, question, permission, path);
    }
  };

  return Object.assign(authorise, { all });
}

function isTrimmed(trims: Trims, { pattern, references: [top] }: TargetPath): boolean {
  const isOfAnyOrg = pattern[0] === patterns.Org[0] && top?.by === "any";
  return isOfAnyOrg ? trims !== "never" : trims === "always" && top === undefined;
}

/** Where the caller holds the permission: its own org, and the customers on which something is granted to it. */
function visibleOrgs(snapshot: OrgSnapshot, question: Question, permission: string): VisibleOrgs {
  const holds = (wanted: string, customerId: string): boolean =>
    allows(snapshot, question, wanted, everywhereIn({ kind: "customer", customerId }));
  const mayLift = (customerId: string): boolean => holds(lifting.org, customerId);
  const customerIds = snapshot.scopes.customerIds().filter((customerId) => holds(permission, customerId));
  // What is in the org is listed, not the org itself.
  const own = { ...resolveById(snapshot), isItself: false };
  const orgIds = allows(snapshot, question, permission, own) ? [snapshot.org.id] : [];
  // A suspended org itself is listed; what is in it is for those who can lift that.
  const suspendedOf = permission === listOrgs ? customerIds : customerIds.filter(mayLift);
  return { orgIds, customerIds, suspendedOf };
}
