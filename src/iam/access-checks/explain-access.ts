import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ExplainAccessRequest,
  type ExplainAccessResponse,
  ExplainAccessResponseSchema,
} from "../../../gen/iam/v1alpha/access_pb.ts";
import { callerOf, slicesOf } from "../../access/evaluation/call.ts";
import type { Allowed, Denied } from "../../access/engine/decisions/explain-decision.ts";
import { type LeftOut, findLeftOut } from "../../access/engine/decisions/narrowing.ts";
import type { SubjectReference } from "../../access/engine/decisions/find-grant.ts";
import { narrowingOf } from "../../access/evaluation/caller-view.ts";
import type { Caller } from "../../identity/caller.ts";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import { allows, findDenying } from "../../access/evaluation/allows.ts";
import { type CheckRequest, subjectById } from "../../access/evaluation/check-request.ts";
import { explainTarget } from "../../access/evaluation/explain-target.ts";
import { readInSteps } from "../../access/evaluation/read-in-steps.ts";
import type { ResolvedTarget, Suspension } from "../../access/evaluation/resolved-target.ts";
import { parseTargetPath } from "../../access/evaluation/target-path.ts";
import { groupPathIn, memberPathIn, rolePathIn } from "../../access/snapshots/snapshot-paths.ts";
import { createRequestConditions } from "../../access/evaluation/condition-budget.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { createPathLookup } from "../../database/path-lookup.ts";
import { roleBindingPath as pathOfBinding } from "../role-bindings/message.ts";
import { type RoleBindingRow, selectRoleBindings } from "../role-bindings/store.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { findSubject, readAttributes, readSubject } from "./read-check-request.ts";

const maxAnswers = 10;

/** Creates the method that explains why a subject has a permission, or what is missing. */
export function createExplainAccess(dependencies: AccessDependencies) {
  const { database, evaluator, subjectOrgs, requireReached } = dependencies;
  const rows = selectRoleBindings(database.reads);
  const levels = [{ alias: "role_bindings", keepsDeleted: false }];
  const bindings = createPathLookup<RoleBindingRow>(database, { name: "role_bindings_by_id", levels, rows });

  return async (request: ExplainAccessRequest, context: HandlerContext): Promise<ExplainAccessResponse> => {
    const { permission, subjectPath, resourcePath } = request;
    const named = readSubject(subjectPath, "subject_path");
    const path = parseTargetPath(resourcePath, "resource_path");
    const attributes = readAttributes(request.context, "context");
    const caller = callerOf(context);
    const confirmed = await subjectOrgs.confirm(caller, named.org, "iam.access.explain", undefined);
    const subject = confirmed && findSubject(confirmed.snapshot, named);
    if (confirmed === undefined || subject === undefined) {
      const pattern = named.kind === "member" ? patterns.Member : patterns.Group;
      throw notFound(named.kind, formatReferences(pattern, [named.org, named.reference]));
    }
    await requireReached(confirmed.snapshot, request.revision, "revision");
    const { snapshot, now } = confirmed;
    const target = await evaluator.resolve(snapshot, path);
    if (target === undefined) throw notFound("resource", resourcePath);
    const check: CheckRequest = { subject, attributes, now, counted: "all", conditions: createRequestConditions() };
    const explained = await readInSteps(
      snapshot,
      () => explainSteps(snapshot, caller, check, permission, target),
      slicesOf(context),
    );
    const { bindingId, grant, ...answer } = explained;
    if (grant === undefined) return create(ExplainAccessResponseSchema, answer);
    const binding = await bindings([{ by: "id", value: bindingId }]);
    const roleBindingPath = binding === undefined ? "" : pathOfBinding(binding);
    return create(ExplainAccessResponseSchema, { ...answer, grants: [{ roleBindingPath, ...grant }] });
  };
}

/** Returns the answer, and the grant with its binding that it shows. Its paths are those of the snapshot that explains. */
function* explainSteps(
  snapshot: OrgSnapshot,
  caller: Caller,
  check: CheckRequest,
  permission: string,
  target: ResolvedTarget,
) {
  const { subject } = check;
  const limits = { maxRoles: maxAnswers, maxGrantors: maxAnswers };
  const explanation = yield* explainTarget(snapshot, check, permission, target, limits);
  const narrowing = isCaller(snapshot, caller, subject) ? narrowingOf(caller) : undefined;
  const narrowed = { ...check, narrowing };
  const allowed = allows(snapshot, narrowed, permission, target);
  const isOfImpersonator = explanation.allowed && !allowed && narrowing?.impersonatorId !== undefined;
  const leftOut =
    narrowing &&
    (findLeftOut(narrowing, permission, target.resource) ?? (isOfImpersonator ? "impersonator" : undefined));
  const answer = { allowed, revision: snapshot.revision };
  const denying = findDenying(snapshot, narrowed, permission, target);
  if (!explanation.allowed) return { ...answer, ...missing(snapshot, explanation), bindingId: "", grant: undefined };
  return {
    ...answer,
    deniedBecause: allowed ? "" : explainLeftOut(leftOut) || explainSuspension(denying),
    bindingId: explanation.binding.id,
    grant: grantedBy(snapshot, explanation),
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

function grantedBy(snapshot: OrgSnapshot, { role, groups }: Allowed) {
  return { rolePath: rolePathIn(snapshot, role), groupPaths: groups.map((id) => groupPathIn(snapshot, id)) };
}

function missing(snapshot: OrgSnapshot, { roles, grantors, subjectState }: Denied) {
  return {
    rolePaths: roles.map((role) => rolePathIn(snapshot, role)),
    granterPaths: grantors.map((id) => memberPathIn(snapshot, id)),
    deniedBecause:
      subjectState === "ACTIVE"
        ? ""
        : `the subject ${subjectState === undefined ? "does not exist" : `is ${subjectState}`}`,
  };
}
