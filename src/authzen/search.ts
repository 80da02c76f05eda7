// Searches for the subjects, resources and actions that are allowed.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type {
  PageRequest,
  SearchActionsRequest,
  SearchActionsResponseSchema,
  SearchResourcesRequest,
  SearchResourcesResponseSchema,
  SearchSubjectsRequest,
  SearchSubjectsResponseSchema,
} from "../../gen/authzen/v1/authorization_api_pb.ts";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { allows } from "../access/evaluation/allows.ts";
import { callerOf, slicesOf } from "../access/evaluation/call.ts";
import type { CheckRequest } from "../access/evaluation/check-request.ts";
import { createRequestConditions } from "../access/evaluation/condition-budget.ts";
import type { AccessEvaluator } from "../access/evaluation/evaluator.ts";
import { readInSteps } from "../access/evaluation/read-in-steps.ts";
import { askedAbout } from "../access/evaluation/resolved-target.ts";
import { parseTargetPath } from "../access/evaluation/target-path.ts";
import type { Database } from "../database/database.ts";
import { required } from "../errors/required.ts";
import { invalidField } from "../errors/service-error.ts";
import { findListedOrg } from "../iam/access-checks/find-listed-org.ts";
import {
  type NamedSubject,
  findSubject,
  readAttributes,
  readSubject,
} from "../iam/access-checks/read-check-request.ts";
import type { Confirmed, SubjectOrgs } from "../iam/access-checks/subject-orgs.ts";
import type { Installation } from "../identity/installation.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { InProcess } from "../rpc/call-in-process.ts";
import type { Steps } from "../scheduling/steps.ts";
import { listPageOfIds } from "../standard-methods/read/list-page.ts";
import type { PageTokens } from "../standard-methods/read/page-token.ts";
import { findActionProblem } from "./evaluate.ts";
import { contextOf, resourcePathOf, subjectPathOf } from "./read-entities.ts";
import { listPermissions } from "./store.ts";

export interface AuthzenDependencies {
  readonly inProcess: InProcess;
  readonly evaluator: AccessEvaluator;
  readonly subjectOrgs: SubjectOrgs;
  readonly pageTokens: PageTokens;
  readonly database: Database;
  readonly installation: Pick<Installation, "systemOrgId">;
  /** All permissions of this service. */
  readonly knownPermissions: readonly string[];
}

const nothing = { results: [], page: { nextToken: "" } };

export function createSearchSubjects(dependencies: AuthzenDependencies) {
  const { inProcess, subjectOrgs, installation, knownPermissions } = dependencies;
  return async (
    request: SearchSubjectsRequest,
    context: HandlerContext,
  ): Promise<MessageInitShape<typeof SearchSubjectsResponseSchema>> => {
    const { type } = required(request.subject);
    const resourcePath = resourcePathOf(required(request.resource), "resource");
    const path = parseTargetPath(resourcePath, "resource.id");
    const org = findListedOrg(path, installation.systemOrgId, "resource.id");
    if (type === "group") throw invalidField("subject.type", "must be member: groups cannot be searched for", "type");
    const { action, resource, context: given } = request;
    const permission = required(action).name;
    if (type !== "member" || findActionProblem(permission, knownPermissions) !== undefined) return nothing;
    const confirmed = await subjectOrgs.confirm(callerOf(context), org, "iam.access.list", undefined);
    if (confirmed === undefined) return nothing;
    const asked = {
      permission,
      resourcePath,
      context: contextOf({ action, resource, context: given }),
      ...pageOf(request),
    };
    const found = await inProcess.ofCaller(AccessService.method.listSubjects, asked, context);
    return { results: found.subjectPaths.map((id) => ({ type, id })), page: { nextToken: found.nextPageToken } };
  };
}

export function createSearchResources(dependencies: AuthzenDependencies) {
  const { inProcess, evaluator, subjectOrgs, knownPermissions } = dependencies;
  return async (
    request: SearchResourcesRequest,
    context: HandlerContext,
  ): Promise<MessageInitShape<typeof SearchResourcesResponseSchema>> => {
    const { type } = required(request.resource);
    const { subject, action, context: given } = request;
    const subjectPath = subjectPathOf(required(subject), "subject");
    const permission = required(action).name;
    const isSearched = type === "project" || type === "org";
    if (subjectPath === undefined || !isSearched) return nothing;
    if (findActionProblem(permission, knownPermissions) !== undefined) return nothing;
    const named = readSubject(subjectPath, "subject.id");
    const confirmed = await subjectOrgs.confirm(callerOf(context), named.org, "iam.access.list", undefined);
    if (confirmed === undefined) return nothing;
    const parentPath = formatReferences(patterns.Org, [named.org]);
    const attributes = contextOf({ subject, action, context: given });
    if (type === "org") {
      // As a check does, since the answer is one.
      const checkable = await subjectOrgs.confirm(callerOf(context), named.org, "iam.access.check", undefined);
      const check = findCheck(checkable, named, readAttributes(attributes, "context"));
      const path = parseTargetPath(parentPath, "subject.id");
      const allowed = check && (await evaluator.resolveHeld(check.snapshot, check, permission, path));
      return allowed === undefined ? nothing : { ...nothing, results: [{ type, id: parentPath }] };
    }
    const asked = { subjectPath, permission, parentPath, context: attributes, ...pageOf(request) };
    const found = await inProcess.ofCaller(AccessService.method.listResources, asked, context);
    return { results: found.resourcePaths.map((id) => ({ type, id })), page: { nextToken: found.nextPageToken } };
  };
}

export function createSearchActions({
  subjectOrgs,
  evaluator,
  database,
  pageTokens,
  knownPermissions,
}: AuthzenDependencies) {
  return async (
    request: SearchActionsRequest,
    context: HandlerContext,
  ): Promise<MessageInitShape<typeof SearchActionsResponseSchema>> => {
    const { subject, resource, context: given } = request;
    const subjectPath = subjectPathOf(required(subject), "subject");
    const resourcePath = resourcePathOf(required(resource), "resource");
    const attributes = readAttributes(contextOf({ subject, resource, context: given }), "context");
    if (subjectPath === undefined) return nothing;
    const named = readSubject(subjectPath, "subject.id");
    const confirmed = await subjectOrgs.confirm(callerOf(context), named.org, "iam.access.list", undefined);
    const check = findCheck(confirmed, named, attributes);
    if (check === undefined) return nothing;
    const { snapshot } = check;
    const names = await listPermissions(database.reads, snapshot.org.id, knownPermissions);
    const path = parseTargetPath(resourcePath, "resource.id");
    const found = await evaluator.resolve(snapshot, path);
    if (found === undefined) return nothing;
    const binding = ["SearchActions", subjectPath, resourcePath, JSON.stringify(attributes)];
    const list = () => {
      const target = askedAbout(evaluator.resolveAgain(snapshot, path, found));
      const isAllowed = (name: string): boolean => allows(snapshot, check, name, target);
      return listPageOfIds(pageTokens, pageOf(request), binding, (after = "", limit) =>
        findAllowed(names, after, limit, isAllowed),
      );
    };
    const { rows, nextPageToken } = await readInSteps(snapshot, list, slicesOf(context));
    return { results: rows.map((name) => ({ name })), page: { nextToken: nextPageToken } };
  };
}

/** Returns the first names after another one that are allowed, one in a step: the roles of an org name as many as their authors like. */
export function* findAllowed(
  names: readonly string[],
  after: string,
  limit: number,
  isAllowed: (name: string) => boolean,
): Steps<string[]> {
  const found: string[] = [];
  for (const name of names) {
    if (found.length === limit) break;
    if (name > after && isAllowed(name)) found.push(name);
    yield;
  }
  return found;
}

/** Returns what decides about a subject, and the snapshot for it; undefined if there is none, or if the caller may not ask about it. */
function findCheck(
  confirmed: Confirmed | undefined,
  named: NamedSubject,
  attributes: CheckRequest["attributes"],
): (CheckRequest & Pick<Confirmed, "snapshot">) | undefined {
  const subject = confirmed && findSubject(confirmed.snapshot, named);
  if (confirmed === undefined || subject === undefined) return undefined;
  const { snapshot, now } = confirmed;
  return { snapshot, subject, attributes, now, counted: "all", conditions: createRequestConditions() };
}

function pageOf({ page }: { readonly page?: PageRequest | undefined }) {
  return { pageSize: page?.limit ?? 0, pageToken: page?.token ?? "" };
}
