import { isDeepStrictEqual } from "node:util";
import { ServiceError } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { type PathPattern, patterns } from "../../paths/patterns.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { allows, lifting } from "./allows.ts";
import type { AccessEvaluator } from "./evaluator.ts";
import { explainDenial } from "./explain-denial.ts";
import type { DecisionView, ViewCaller } from "./caller-view.ts";
import type { CheckRequest } from "./check-request.ts";
import { type AuthoriseAll, createAuthoriseAll } from "./authorise-all.ts";
import { authoriseOpen } from "./open-calls.ts";
import { type SupportRead, findSupported } from "./support-access.ts";
import { readInSteps } from "./read-in-steps.ts";
import { whenReady } from "../../scheduling/when-ready.ts";
import { projectIn, resolveById } from "./resolve-in-snapshot.ts";
import { type ResolvedTarget, contentsOf, everywhere, hasPath, withoutPath } from "./resolved-target.ts";
import type { TargetPath } from "./target-path.ts";
import {
  type SomeOrgs,
  type Visibility,
  customersWhere,
  isForAnyOrg,
  nothing,
  unlimited,
  visibilityIn,
  visibilityOf,
} from "./visibility.ts";

export type ListVisibility = "never" | "any org" | "always";

const listOrgs = "iam.orgs.list";

export interface Requirement {
  readonly permission: string;
  /**
   * Which calls list resources across all orgs: with `any org`, calls with `-` for the org; with `always`, also calls without a
   * parent. A caller that lacks the permission for such a call sees the resources in the orgs where it holds the permission.
   */
  readonly listVisibility: ListVisibility;
  /** Whether active members of the org of the path may make the call without the permission. */
  readonly openToMembers?: boolean;
}

export interface Authorised {
  readonly target: ResolvedTarget;
  /** Set if the caller lacks the permission, and may make the call as a member of the org. */
  readonly isAsMember?: true;
  /** The approved access request of a member of the platform without which the call would be denied. */
  readonly support?: SupportRead;
  /** What a read may show of what its path leads to. */
  readonly visible: Visibility;
  /** The ids of the resource types that a list may show, or for which a write of resources is authorised; absent if all are. */
  readonly visibleTypes?: readonly string[];
  /** The parents of the items of a batch whose own parent has `-`; undefined for an item that names none. */
  readonly parents?: readonly (ItemParent | undefined)[];
}

export interface ItemParent {
  readonly written: readonly Reference[];
  /** The path on which the call was authorised, in the org of the batch, whatever org the request names. */
  readonly references: readonly Reference[];
}

/** Makes several decisions about a caller, whose org is read once. */
export interface CallerAuthoriser {
  /** @throws ServiceError PERMISSION_DENIED, which explains what is missing. */
  readonly decide: (requirement: Requirement, path: TargetPath) => Promise<Authorised>;
  /** Returns undefined if the call is denied. An explanation takes long. */
  readonly decideQuietly: (requirement: Requirement, path: TargetPath) => Promise<Authorised | undefined>;
  /**
   * Reports whether the caller may hold a permission on a target and not on what is in it: because only role bindings with
   * conditions give it, or because the caller may not lift a suspension of what is in it.
   *
   * @param child the pattern of what is in it.
   */
  readonly mayDifferInside: (permission: string, target: ResolvedTarget, child: PathPattern) => boolean;
  /**
   * Checks that no condition decides about what is in a project that does not exist yet, but which the transaction may have made: it
   * would see the org.
   *
   * @throws ServiceError PERMISSION_DENIED
   */
  readonly requireDecided: (permission: string, path: TargetPath, target: ResolvedTarget) => void;
}

export interface Authorise {
  /**
   * Resolves a path if the caller holds a permission on it. Does not check whether the resource itself exists: callers without
   * access must not learn that (AIP-211).
   *
   * @param slices of the call. A decision can be long, because of conditions, and so can the explanation of a denial.
   * @throws ServiceError PERMISSION_DENIED
   */
  (caller: Caller, requirement: Requirement, path: TargetPath, slices: CallSlices): Promise<Authorised>;
  readonly authoriserOf: (caller: Caller, slices: CallSlices) => Promise<CallerAuthoriser>;
  /** Makes decisions about a caller from a snapshot of its org, which the caller of this function keeps as it is meanwhile. */
  readonly authoriserIn: (snapshot: OrgSnapshot, caller: Caller, slices: CallSlices) => Promise<CallerAuthoriser>;
  /** Returns what the caller sees through a path, if it holds the permission to read there. A promise only for a path with `-`. */
  readonly visibility: (caller: Caller, path: TargetPath, slices: CallSlices) => Visibility | Promise<Visibility>;
  readonly all: AuthoriseAll;
}

export function createAuthorise(viewCaller: ViewCaller, evaluator: AccessEvaluator): Authorise {
  /** Several calls come here in one turn of the event loop. */
  const viewInSlice = (caller: Caller, { next }: CallSlices): DecisionView | Promise<DecisionView> =>
    whenReady(viewCaller(caller), (view) => {
      const slice = next();
      return slice === undefined ? view : slice.then(() => viewCaller(caller));
    });

  const deny = async (
    snapshot: OrgSnapshot,
    check: CheckRequest,
    permission: string,
    path: TargetPath,
    slices: CallSlices,
  ): Promise<never> => {
    const target = await evaluator.resolve(snapshot, path);
    const explain = () => explainDenial(snapshot, check, permission, target);
    const { message, metadata } = await readInSteps(snapshot, explain, slices);
    throw new ServiceError("PERMISSION_DENIED", message, { metadata });
  };

  const decideQuietly = (
    { snapshot, check }: DecisionView,
    { permission, listVisibility, openToMembers = false }: Requirement,
    path: TargetPath,
  ): Authorised | undefined | Promise<Authorised | undefined> =>
    whenReady(evaluator.resolveAllowed(snapshot, check, permission, path), (target) => {
      if (target !== undefined) {
        const visible = visibilityOf(snapshot, check, permission, target, evaluator.recordUse);
        const support = findSupported(snapshot, check, permission, target);
        return { target, visible, ...(support && { support }) };
      }
      const open = openToMembers ? authoriseOpen(evaluator, snapshot, check, permission, path) : undefined;
      return whenReady(open, (authorised) => {
        if (authorised !== undefined || !limitsToVisible(listVisibility, path)) return authorised;
        const orgs = orgsWhere(evaluator, snapshot, check, permission);
        if (orgs.orgIds.length + orgs.customerIds.length === 0) return undefined;
        const visible = visibleIn(evaluator, snapshot, check, permission, orgs);
        return { target: { ...everywhere, pattern: path.pattern, references: path.references }, visible };
      });
    });

  const decide = (
    view: DecisionView,
    requirement: Requirement,
    path: TargetPath,
    slices: CallSlices,
  ): Authorised | Promise<Authorised> =>
    whenReady(
      decideQuietly(view, requirement, path),
      (authorised) => authorised ?? deny(view.snapshot, view.check, requirement.permission, path, slices),
    );

  const authoriserWith = (view: DecisionView, slices: CallSlices): CallerAuthoriser => ({
    async decide(requirement, path) {
      await slices.next();
      return decide(view, requirement, path, slices);
    },
    async decideQuietly(requirement, path) {
      await slices.next();
      return decideQuietly(view, requirement, path);
    },
    ...questionsOf(view),
  });

  const authoriserOf: Authorise["authoriserOf"] = async (caller, slices) =>
    authoriserWith(await viewInSlice(caller, slices), slices);

  const authoriserIn: Authorise["authoriserIn"] = async (snapshot, caller, slices) =>
    authoriserWith(await viewCaller.in(snapshot, caller), slices);

  const authorise = async (
    caller: Caller,
    requirement: Requirement,
    path: TargetPath,
    slices: CallSlices,
  ): Promise<Authorised> => whenReady(viewInSlice(caller, slices), (view) => decide(view, requirement, path, slices));

  const visibility: Authorise["visibility"] = (caller, path, slices) =>
    path.references.some(({ by }) => by === "any") ? visibilityThrough(caller, path, slices) : unlimited;

  const visibilityThrough = async (caller: Caller, path: TargetPath, slices: CallSlices): Promise<Visibility> => {
    const { snapshot, check } = await viewInSlice(caller, slices);
    const target = await evaluator.resolve(snapshot, path);
    return target === undefined ? nothing : visibilityOf(snapshot, check, undefined, target, evaluator.recordUse);
  };

  const all = createAuthoriseAll(viewInSlice, evaluator, deny);
  return Object.assign(authorise, { authoriserOf, authoriserIn, visibility, all });
}

function questionsOf(view: DecisionView): Pick<CallerAuthoriser, "mayDifferInside" | "requireDecided"> {
  return {
    mayDifferInside: (...of) => mayDifferInside(view, ...of),
    requireDecided(permission, path, target) {
      const project = projectIn(path);
      if (project === undefined || project.by === "any" || target.resource.kind !== "org") return;
      if (allows(view.snapshot, view.check, permission, withoutPath(target))) return;
      const message = `the caller holds the permission ${permission} under a condition, which cannot be evaluated in a project that does not exist before the write`;
      throw new ServiceError("PERMISSION_DENIED", message, { metadata: { permission } });
    },
  };
}

function mayDifferInside(
  { snapshot, check }: DecisionView,
  ...[permission, target, child]: Parameters<CallerAuthoriser["mayDifferInside"]>
): boolean {
  const kind = suspendableKind(child);
  const wanted = kind === undefined ? [permission] : [permission, lifting[kind]];
  const whole = withoutPath(target);
  return !wanted.every((each) => allows(snapshot, check, each, whole)) && hasPath(target);
}

/** Returns what kind of resource that can be suspended a pattern is of, if any. */
function suspendableKind(pattern: PathPattern): keyof typeof lifting | undefined {
  if (isDeepStrictEqual(pattern, patterns.Org)) return "org";
  return isDeepStrictEqual(pattern, patterns.Project) ? "project" : undefined;
}

/** Returns what a caller sees that holds a permission in these orgs. A list of orgs shows suspended ones, as a Get of one does. */
function visibleIn(
  { recordUse }: AccessEvaluator,
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  orgs: SomeOrgs,
): Visibility {
  return permission === listOrgs ? { ...unlimited, orgs } : visibilityIn(snapshot, check, orgs, recordUse);
}

function limitsToVisible(listVisibility: ListVisibility, path: TargetPath): boolean {
  if (isForAnyOrg(path)) return listVisibility !== "never";
  return listVisibility === "always" && path.references.length === 0;
}

/**
 * Returns where the caller holds the permission: its own org, and customers on which something is granted to it. What gives it there is
 * recorded as used: a list shows what is in these orgs.
 */
function orgsWhere(
  { recordUse }: AccessEvaluator,
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
): SomeOrgs {
  const own = contentsOf(resolveById(snapshot));
  const orgIds = allows(snapshot, check, permission, own) ? [snapshot.org.id] : [];
  if (orgIds.length > 0) recordUse(snapshot, check, permission, own);
  return { orgIds, customerIds: customersWhere(snapshot, check, permission, recordUse) };
}
