import { ServiceError } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { Turns } from "../../turns/turns.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { allows, allowsEverywhere, lifting } from "./allows.ts";
import type { AccessEvaluator } from "./evaluator.ts";
import { explainDenial } from "./explain-denial.ts";
import type { DecisionView, ViewCaller } from "./caller-view.ts";
import type { CheckRequest } from "./check-request.ts";
import { readInSteps } from "./read-in-steps.ts";
import { renewTurnOf } from "../../turns/renew-turn.ts";
import { whenReady } from "../../turns/when-ready.ts";
import { resolveById } from "./resolve-in-snapshot.ts";
import { type ResolvedTarget, everywhere, everywhereIn } from "./resolved-target.ts";
import type { TargetPath } from "./target-path.ts";

/** What a list across all orgs may show to a caller: these orgs, and the orgs of these customers. */
export interface VisibleOrgs {
  readonly orgIds: readonly string[];
  readonly customerIds: readonly string[];
  /** The customers whose suspended orgs are included. */
  readonly suspendedOf: readonly string[];
}

export type ListVisibility = "never" | "any org" | "always";

const listOrgs = "iam.orgs.list";

/** What a method requires of its caller. */
export interface Requirement {
  readonly permission: string;
  /**
   * Which calls list resources across all orgs: with `any org`, calls with `-` for the org; with `always`, also calls without a
   * parent. A caller that lacks the permission for such a call sees the resources in the orgs where it holds the permission.
   */
  readonly listVisibility: ListVisibility;
}

/** The result of authorising a call. */
export interface Authorised {
  readonly target: ResolvedTarget;
  /** What a list across all orgs may show; absent if it may show everything. */
  readonly visible?: VisibleOrgs;
  /** The ids of the resource types that a list may show, or for which a write of resources is authorised; absent if all are. */
  readonly visibleTypes?: readonly string[];
  /** The parents of the items of a batch whose own parent has `-`; undefined for an item that names none. */
  readonly parents?: readonly (ItemParent | undefined)[];
}

/** The parent of an item of a batch. */
export interface ItemParent {
  /** The path in the request. */
  readonly written: readonly Reference[];
  /** The path on which the call was authorised, in the org of the batch, whatever org the request names. */
  readonly references: readonly Reference[];
}

/** Makes several decisions about a caller, whose org is read once. */
export interface Decider {
  /** @throws ServiceError PERMISSION_DENIED, which explains what is missing. */
  readonly decide: (requirement: Requirement, path: TargetPath) => Promise<Authorised>;
  /** Returns undefined if the call is denied. An explanation takes long. */
  readonly decideQuietly: (requirement: Requirement, path: TargetPath) => Promise<Authorised | undefined>;
}

export interface Authorise {
  /**
   * Resolves a path if the caller holds a permission on it. Does not check whether the resource itself exists: callers without
   * access must not learn that (AIP-211).
   *
   * @throws ServiceError PERMISSION_DENIED
   */
  (caller: Caller, requirement: Requirement, path: TargetPath): Promise<Authorised>;
  readonly deciderOf: (caller: Caller) => Promise<Decider>;
  /**
   * Checks that the caller holds a permission on each of several paths.
   *
   * @throws ServiceError PERMISSION_DENIED
   */
  readonly all: (caller: Caller, permission: string, paths: readonly TargetPath[]) => Promise<void>;
}

export function createAuthorise(viewCaller: ViewCaller, evaluator: AccessEvaluator, turns: Turns): Authorise {
  /** Conditions can make a decision long, and several calls come here in one turn of the event loop. */
  const viewInTurn = (caller: Caller): DecisionView | Promise<DecisionView> =>
    whenReady(viewCaller(caller), (view) => {
      const turn = turns.renew(caller.orgId, "short");
      return turn === undefined ? view : turn.then(() => viewCaller(caller));
    });

  const deny = async (
    caller: Caller,
    snapshot: OrgSnapshot,
    check: CheckRequest,
    permission: string,
    path: TargetPath,
  ): Promise<never> => {
    const target = await evaluator.resolve(snapshot, path);
    const explain = () => explainDenial(snapshot, check, permission, target);
    const { message, metadata } = await readInSteps(snapshot, explain, renewTurnOf(turns, caller));
    throw new ServiceError("PERMISSION_DENIED", message, { metadata });
  };

  const decideQuietly = (
    { snapshot, check }: DecisionView,
    { permission, listVisibility }: Requirement,
    path: TargetPath,
  ): Authorised | undefined | Promise<Authorised | undefined> =>
    whenReady(evaluator.resolveAllowed(snapshot, check, permission, path), (target) => {
      if (target !== undefined) return { target };
      if (!limitsToVisible(listVisibility, path)) return undefined;
      const visible = visibleOrgs(snapshot, check, permission);
      if (visible.orgIds.length + visible.customerIds.length === 0) return undefined;
      const { pattern, references } = path;
      return { target: { ...everywhere, pattern, references }, visible };
    });

  const decide = (
    caller: Caller,
    view: DecisionView,
    requirement: Requirement,
    path: TargetPath,
  ): Authorised | Promise<Authorised> =>
    whenReady(
      decideQuietly(view, requirement, path),
      (authorised) => authorised ?? deny(caller, view.snapshot, view.check, requirement.permission, path),
    );

  const deciderOf: Authorise["deciderOf"] = async (caller) => {
    const view = await viewInTurn(caller);
    const renew = renewTurnOf(turns, caller);
    return {
      async decide(requirement, path) {
        await renew();
        return decide(caller, view, requirement, path);
      },
      async decideQuietly(requirement, path) {
        await renew();
        return decideQuietly(view, requirement, path);
      },
    };
  };

  const authorise = async (caller: Caller, requirement: Requirement, path: TargetPath): Promise<Authorised> =>
    whenReady(viewInTurn(caller), (view) => decide(caller, view, requirement, path));

  const all: Authorise["all"] = async (caller, permission, paths) => {
    const { snapshot, check } = await viewInTurn(caller);
    if (allowsEverywhere(snapshot, check, permission, "in orgs")) return;
    const renew = renewTurnOf(turns, caller);
    for (const path of paths) {
      const turn = renew();
      if (turn !== undefined) await turn;
      const target = await evaluator.resolveAllowed(snapshot, check, permission, path);
      if (target === undefined) await deny(caller, snapshot, check, permission, path);
    }
  };

  return Object.assign(authorise, { deciderOf, all });
}

function limitsToVisible(listVisibility: ListVisibility, { pattern, references: [top] }: TargetPath): boolean {
  const isOfAnyOrg = pattern[0] === patterns.Org[0] && top?.by === "any";
  return isOfAnyOrg ? listVisibility !== "never" : listVisibility === "always" && top === undefined;
}

/** Returns where the caller holds the permission: its own org, and customers on which something is granted to it. */
function visibleOrgs(snapshot: OrgSnapshot, check: CheckRequest, permission: string): VisibleOrgs {
  const holds = (wanted: string, customerId: string): boolean =>
    allows(snapshot, check, wanted, everywhereIn({ kind: "customer", customerId }));
  const mayLift = (customerId: string): boolean => holds(lifting.org, customerId);
  const customerIds = snapshot.scopes.outerIds("customer").filter((customerId) => holds(permission, customerId));
  // The list shows what is in the org, not the org itself.
  const own = { ...resolveById(snapshot), isItself: false };
  const orgIds = allows(snapshot, check, permission, own) ? [snapshot.org.id] : [];
  // A list of orgs shows suspended orgs; what is in them is shown only to callers that may lift the suspension.
  const suspendedOf = permission === listOrgs ? customerIds : customerIds.filter(mayLift);
  return { orgIds, customerIds, suspendedOf };
}
