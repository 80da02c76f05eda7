// Searches for the subjects, resources and actions that are allowed.
import { type MessageInitShape, create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type PageRequest,
  type SearchActionsRequest,
  type SearchActionsResponseSchema,
  type SearchResourcesRequest,
  type SearchResourcesResponseSchema,
  type SearchSubjectsRequest,
  type SearchSubjectsResponseSchema,
} from "../../../../gen/authzen/v1/authorization_api_pb.ts";
import {
  CheckAccessRequestSchema,
  ListResourcesRequestSchema,
  ListSubjectsRequestSchema,
} from "../../../../gen/iam/v1alpha/access_pb.ts";
import { callerOf } from "../../../access/evaluation/call.ts";
import { allows } from "../../../access/evaluation/allows.ts";
import type { CheckRequest } from "../../../access/evaluation/check-request.ts";
import { createRequestConditions } from "../../../access/evaluation/condition-budget.ts";
import { parseTargetPath } from "../../../access/evaluation/target-path.ts";
import { invalidField } from "../../../errors/service-error.ts";
import { formatReferences } from "../../../paths/format-path.ts";
import { patterns } from "../../../paths/patterns.ts";
import { pageSizeOf } from "../../../standard-methods/read/list-page.ts";
import { required } from "../../../errors/required.ts";
import { createCheckAccess } from "../check-access.ts";
import type { AccessDependencies } from "../dependencies.ts";
import { findListedOrg } from "../find-listed-org.ts";
import { createListResources } from "../list-resources.ts";
import { createListSubjects } from "../list-subjects.ts";
import { findSubject, readAttributes, readSubject } from "../read-check-request.ts";
import { contextOf, resourcePathOf, subjectPathOf } from "./read-entities.ts";
import { listRolePermissions } from "./store.ts";

export interface AuthzenDependencies extends AccessDependencies {
  /** All permissions of this service. */
  readonly knownPermissions: readonly string[];
}

const nothing = { results: [], page: { nextToken: "" } };

export function createSearchSubjects(dependencies: AuthzenDependencies) {
  const listSubjects = createListSubjects(dependencies);
  return async (
    request: SearchSubjectsRequest,
    context: HandlerContext,
  ): Promise<MessageInitShape<typeof SearchSubjectsResponseSchema>> => {
    const { type } = required(request.subject);
    const resourcePath = resourcePathOf(required(request.resource), "resource");
    const path = parseTargetPath(resourcePath, "resource.id");
    const org = findListedOrg(path, dependencies.installation.systemOrgId, "resource.id");
    if (type === "group") throw invalidField("subject.type", "must be member: groups cannot be searched for", "type");
    if (type !== "member") return nothing;
    const confirmed = await dependencies.subjectOrgs.confirm(callerOf(context), org, "iam.access.list", undefined);
    if (confirmed === undefined) return nothing;
    const { action, resource, context: given } = request;
    const check = {
      permission: required(action).name,
      resourcePath,
      context: contextOf({ action, resource, context: given }),
      ...pageOf(request),
    };
    const found = await listSubjects(create(ListSubjectsRequestSchema, check), context);
    return { results: found.subjectPaths.map((id) => ({ type, id })), page: { nextToken: found.nextPageToken } };
  };
}

export function createSearchResources(dependencies: AuthzenDependencies) {
  const listResources = createListResources(dependencies);
  const check = createCheckAccess(dependencies);
  return async (
    request: SearchResourcesRequest,
    context: HandlerContext,
  ): Promise<MessageInitShape<typeof SearchResourcesResponseSchema>> => {
    const { type } = required(request.resource);
    const subjectPath = subjectPathOf(required(request.subject), "subject");
    if (subjectPath === undefined || (type !== "project" && type !== "org")) return nothing;
    const { org } = readSubject(subjectPath, "subject.id");
    const confirmed = await dependencies.subjectOrgs.confirm(callerOf(context), org, "iam.access.list", undefined);
    if (confirmed === undefined) return nothing;
    const parentPath = formatReferences(patterns.Org, [org]);
    const { subject, action, context: given } = request;
    const permission = required(action).name;
    const common = { subjectPath, permission, context: contextOf({ subject, action, context: given }) };
    if (type === "org") {
      const asked = create(CheckAccessRequestSchema, { ...common, resourcePath: parentPath });
      const { allowed } = await check(callerOf(context), asked);
      return allowed ? { ...nothing, results: [{ type, id: parentPath }] } : nothing;
    }
    const asked = create(ListResourcesRequestSchema, { ...common, parentPath, ...pageOf(request) });
    const found = await listResources(asked, context);
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
    const found = confirmed && findSubject(confirmed.snapshot, named);
    if (confirmed === undefined || found === undefined) return nothing;
    const { snapshot, now } = confirmed;
    const custom = await listRolePermissions(database.reads, snapshot.org.id);
    const target = await evaluator.resolve(snapshot, parseTargetPath(resourcePath, "resource.id"));
    if (target === undefined) return nothing;
    const binding = ["SearchActions", subjectPath, resourcePath, JSON.stringify(attributes)];
    const { pageToken, pageSize } = pageOf(request);
    const [after = ""] = pageToken === "" ? [] : pageTokens.decode(pageToken, binding);
    const check: CheckRequest = {
      subject: found,
      attributes,
      now,
      counted: "all",
      conditions: createRequestConditions(),
    };
    const names = [...new Set([...knownPermissions, ...custom])]
      .filter((name) => name > after && allows(snapshot, check, name, target))
      .toSorted();
    const page = names.slice(0, pageSizeOf({ pageSize }));
    const last = page.at(-1);
    const isLastPage = page.length === names.length || last === undefined;
    return {
      results: page.map((name) => ({ name })),
      page: { nextToken: isLastPage ? "" : pageTokens.encode([last], binding) },
    };
  };
}

function pageOf({ page }: { readonly page?: PageRequest | undefined }) {
  return { pageSize: page?.limit ?? 0, pageToken: page?.token ?? "" };
}
