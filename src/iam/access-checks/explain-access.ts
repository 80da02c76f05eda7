import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ExplainAccessRequest,
  type ExplainAccessResponse,
  ExplainAccessResponseSchema,
} from "../../../gen/iam/v1alpha/access_pb.ts";
import { callerOf, slicesOf } from "../../access/evaluation/call.ts";
import type { Allowed, Way } from "../../access/engine/decisions/explain-decision.ts";
import { type LeftOut, findLeftOut } from "../../access/engine/decisions/narrowing.ts";
import type { SubjectReference } from "../../access/engine/decisions/find-grant.ts";
import type { ScopeIdentity } from "../../access/engine/tables/scope-table.ts";
import { narrowingOf } from "../../access/evaluation/caller-view.ts";
import type { Caller } from "../../identity/caller.ts";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import { allows, findDenying } from "../../access/evaluation/allows.ts";
import { type CheckRequest, subjectById } from "../../access/evaluation/check-request.ts";
import { type ExplainedTarget, explainTarget } from "../../access/evaluation/explain-target.ts";
import { readInSteps } from "../../access/evaluation/read-in-steps.ts";
import { approvedByNobody, needsApproval } from "../../access/evaluation/explain-denial.ts";
import { ifApproved } from "../../access/evaluation/support-access.ts";
import { isApprovable } from "../../access/evaluation/support-permissions.ts";
import type { ResolvedTarget, Suspension } from "../../access/evaluation/resolved-target.ts";
import { type TargetPath, parseTargetPath } from "../../access/evaluation/target-path.ts";
import { groupPathIn, memberPathIn, rolePathIn, orgPathIn } from "../../access/snapshots/snapshot-paths.ts";
import { createRequestConditions } from "../../access/evaluation/condition-budget.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { createPathLookup } from "../../database/path-lookup.ts";
import { roleBindingPath as pathOfBinding } from "../role-bindings/message.ts";
import { type RoleBindingRow, selectKeptRoleBindings } from "../role-bindings/store.ts";
import { readAsOf } from "./as-of.ts";
import { askingOf } from "./check-access.ts";
import { createDescribeInactive } from "./describe-inactive.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { requireKnownPermission } from "./require-known-permission.ts";
import { findSubject, readAttributes, readSubject } from "./read-check-request.ts";
import { readLastPath, readLaterPath } from "./read-past-path.ts";

const maxAnswers = 10;

const permissionToExplain = "iam.access.explain";

/** Creates the method that explains why a subject has a permission, or what is missing. */
export function createExplainAccess(dependencies: AccessDependencies) {
  const { database, evaluator, subjectOrgs, requireReached, openPastOrg } = dependencies;
  const bindingPaths = createBindingPaths(database);
  const mayGetBinding = createMayGetBinding(dependencies);
  const describeInactive = createDescribeInactive(database);

  return async (request: ExplainAccessRequest, context: HandlerContext): Promise<ExplainAccessResponse> => {
    const { permission, subjectPath, resourcePath } = request;
    const named = readSubject(subjectPath, "subject_path");
    const asked = parseTargetPath(resourcePath, "resource_path");
    const asOf = readAsOf(request);
    const attributes = readAttributes(request.context, "context");
    const caller = callerOf(context);
    const confirmed = await subjectOrgs.confirm(caller, named.org, permissionToExplain, undefined);
    const opened = confirmed && asOf && (await openPastOrg(askingOf(context), confirmed, permissionToExplain, asOf));
    opened?.past.requireKept(named);
    const found = opened ?? confirmed;
    const subject = found && findSubject(found.snapshot, named);
    if (confirmed === undefined || found === undefined || subject === undefined) {
      const pattern = named.kind === "member" ? patterns.Member : patterns.Group;
      throw notFound(named.kind, formatReferences(pattern, [named.org, named.reference]));
    }
    await requireReached(confirmed.snapshot, request.revision, "revision");
    const { snapshot, now } = found;
    const path = opened?.past.locate(asked, "resource_path") ?? asked;
    const target = await evaluator.resolve(snapshot, path);
    if (target === undefined) throw notFound("resource", resourcePath);
    requireProject(path, target);
    await requireKnownPermission(dependencies, snapshot, permission, "permission");
    const check: CheckRequest = { subject, attributes, now, counted: "all", conditions: createRequestConditions() };
    const explain = () => {
      const current = evaluator.resolveAgain(snapshot, path, target);
      requireProject(path, current);
      return explainSteps(snapshot, opened === undefined ? caller : undefined, check, permission, current);
    };
    const explained = await readInSteps(snapshot, explain, slicesOf(context));
    const { ways, unmet, ...answer } = explained;
    const { id: orgId } = snapshot.org;
    const until = opened === undefined ? undefined : snapshot.revision;
    const pathOf = (id: string): Promise<string> => bindingPaths(orgId, id, until);
    const grants = await Promise.all(
      ways.map(async ({ id, ...grant }) => ({ ...grant, roleBindingPath: await pathOf(id) })),
    );
    const inactiveGrants =
      explained.allowed || ways.length > 0 || explained.deniedBecause !== ""
        ? []
        : await describeInactive(
            snapshot,
            check,
            { permission, resource: target.resource, until, pathOf },
            slicesOf(context),
          );
    const conditionalGrants = await Promise.all(
      unmet.map(async ({ id, scope, condition, falseParts, ...grant }) => {
        const roleBindingPath = await pathOf(id);
        // A path of then can be that of something else now.
        const of = until === undefined ? roleBindingPath : placeNow(orgId, scope);
        const shown = (await mayGetBinding(caller, of)) ? { condition, falseParts: [...falseParts] } : {};
        return { ...grant, roleBindingPath, ...shown };
      }),
    );
    return create(ExplainAccessResponseSchema, { ...answer, grants, conditionalGrants, inactiveGrants });
  };
}

/**
 * Creates the function that returns the path of a role binding: as of a revision, or now, and then empty for one that was deleted
 * meanwhile.
 */
function createBindingPaths(database: AccessDependencies["database"]) {
  const rows = selectKeptRoleBindings(database.reads);
  const levels = [{ alias: "role_bindings", keepsDeleted: false }];
  const bindings = createPathLookup<RoleBindingRow>(database, { name: "role_bindings_by_id", levels, rows });
  return async (orgId: string, id: string, revision: string | undefined): Promise<string> => {
    const later = revision === undefined ? undefined : await readLaterPath(database, { orgId, revision, id });
    if (later !== undefined) return later;
    const binding = await bindings([{ by: "id", value: id }]);
    if (binding !== undefined) return pathOfBinding(binding);
    return revision === undefined ? "" : readLastPath(database, { orgId, revision, id });
  };
}

/** Returns the path, by ids, on which roles are bound. */
function placeNow(orgId: string, scope: ScopeIdentity): string {
  switch (scope.kind) {
    case "platform":
      // Any role binding of the platform: what is on no path is decided on the platform.
      return "/roleBindings/-";
    case "customer":
      return `/customers/@${scope.id}`;
    case "service":
      return `/services/@${scope.id}`;
    case "org":
      return `/orgs/@${orgId}`;
    case "project":
      return `/orgs/@${orgId}/projects/@${scope.id}`;
  }
}

/** Creates the function that tells whether a caller may get a role binding, or all at a path. */
function createMayGetBinding({
  viewCaller,
  evaluator,
}: Pick<AccessDependencies, "viewCaller" | "evaluator">): (caller: Caller, path: string) => Promise<boolean> {
  return async (caller, path) => {
    if (path === "") return false;
    const { snapshot, check } = await viewCaller(caller);
    const target = parseTargetPath(path, "role_binding_path");
    return (await evaluator.resolveAllowed(snapshot, check, "iam.roleBindings.get", target)) !== undefined;
  };
}

/**
 * That access is denied because a project does not exist is said, since its name may be misspelt.
 *
 * @throws ServiceError RESOURCE_NOT_FOUND
 */
function requireProject(path: TargetPath, { isInMissingProject }: ResolvedTarget): void {
  if (isInMissingProject) throw notFound("project", formatReferences(patterns.Project, path.references.slice(0, 2)));
}

/**
 * Returns the answer, with the ids of the bindings that it shows. Its paths are those of the snapshot that explains.
 *
 * @param caller whose token narrows what it holds itself; undefined if that does not count.
 */
function* explainSteps(
  snapshot: OrgSnapshot,
  caller: Caller | undefined,
  check: CheckRequest,
  permission: string,
  target: ResolvedTarget,
) {
  const { subject } = check;
  const limits = { maxUnmet: maxAnswers, maxRoles: maxAnswers, maxGrantors: maxAnswers };
  const explanation = yield* explainTarget(snapshot, check, permission, target, limits);
  const narrowing = caller !== undefined && isCaller(snapshot, caller, subject) ? narrowingOf(caller) : undefined;
  const narrowed = { ...check, narrowing };
  const allowed = allows(snapshot, narrowed, permission, target);
  const isOfImpersonator = explanation.allowed && !allowed && narrowing?.impersonatorId !== undefined;
  const leftOut =
    narrowing &&
    (findLeftOut(narrowing, permission, target.resource) ?? (isOfImpersonator ? "impersonator" : undefined));
  const answer = { allowed, revision: snapshot.revision };
  if (!allowed && target.support !== undefined && allows(snapshot, narrowed, permission, ifApproved(target)))
    return { ...answer, ...unapproved(permission, target), ways: [], unmet: [] };
  const denying = findDenying(snapshot, narrowed, permission, target);
  if (!explanation.allowed) {
    const { resource } = target;
    const isInside = (resource.kind === "org" || resource.kind === "project") && resource.orgId === snapshot.org.id;
    const mayAsk = subject.kind === "member" && explanation.subjectState === "ACTIVE" && isInside;
    const accessRequestParentPath = mayAsk && explanation.roles.length > 0 ? orgPathIn(snapshot) : "";
    return { ...answer, ...missing(snapshot, explanation), accessRequestParentPath, ways: [] };
  }
  return {
    ...answer,
    deniedBecause: allowed ? "" : explainLeftOut(leftOut) || explainSuspension(denying),
    ways: [describeWay(snapshot, explanation)],
    unmet: [],
  };
}

/** What is missing where the org has to approve what members of the platform do. */
function unapproved(permission: string, { support, references: [org] }: ResolvedTarget) {
  const canAsk = isApprovable(permission);
  const isOfOrg = canAsk && org !== undefined && support !== undefined && support.orgId !== null;
  return {
    deniedBecause: canAsk ? needsApproval : `${needsApproval}; ${approvedByNobody}`,
    accessRequestParentPath: isOfOrg ? formatReferences(patterns.Org, [org]) : "",
  };
}

/** Reports whether the subject is the caller, whose token then narrows what it holds. */
function isCaller(snapshot: OrgSnapshot, caller: Caller, subject: SubjectReference): boolean {
  const byId = subjectById(snapshot, subject);
  return snapshot.org.id === caller.orgId && byId.kind === "member" && "id" in byId && byId.id === caller.memberId;
}

function explainLeftOut(leftOut: LeftOut | undefined): string {
  switch (leftOut) {
    case "scope":
      return "the API key or token of the call is narrowed: its scopes do not include the permission";
    case "project":
      return "the token of the call is narrowed to another project";
    case "impersonator":
      return "the member that impersonates the subject does not hold the permission";
    case undefined:
      return "";
  }
}

function explainSuspension(denying: Suspension | undefined): string {
  return denying === undefined ? "" : `the ${denying.kind} is SUSPENDED`;
}

function describeWay(snapshot: OrgSnapshot, { role, groups, binding: { id } }: Way) {
  return { id, rolePath: rolePathIn(snapshot, role), groupPaths: groups.map((group) => groupPathIn(snapshot, group)) };
}

function missing(
  snapshot: OrgSnapshot,
  { roles, grantors, subjectState, unmet, falseParts }: Exclude<ExplainedTarget, Allowed>,
) {
  return {
    unmet: unmet.map((way, index) => ({
      ...describeWay(snapshot, way),
      scope: way.binding.scope,
      condition: way.condition,
      falseParts: falseParts[index] ?? [],
    })),
    rolePaths: roles.map((role) => rolePathIn(snapshot, role)),
    granterPaths: grantors.map((id) => memberPathIn(snapshot, id)),
    deniedBecause:
      subjectState === "ACTIVE"
        ? ""
        : `the subject ${subjectState === undefined ? "does not exist" : `is ${subjectState}`}`,
  };
}
