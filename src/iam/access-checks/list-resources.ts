import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ListResourcesRequest,
  ListResourcesRequest_Kind,
  type ListResourcesResponse,
  ListResourcesResponseSchema,
} from "../../../gen/iam/v1alpha/access_pb.ts";
import { callerOf, slicesOf } from "../../access/evaluation/call.ts";
import { type PageOptions, createIdPage } from "../../access/engine/decisions/id-page.ts";
import { listResources, offerAll } from "../../access/engine/decisions/list-resources.ts";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import type { TargetScope } from "../../access/engine/decisions/target-scope.ts";
import type { Steps } from "../../scheduling/steps.ts";
import { allows } from "../../access/evaluation/allows.ts";
import { conditionInputOf } from "../../access/evaluation/condition-input.ts";
import type { CheckRequest } from "../../access/evaluation/check-request.ts";
import { readInSteps } from "../../access/evaluation/read-in-steps.ts";
import { resolveById } from "../../access/evaluation/resolve-in-snapshot.ts";
import { projectPathIn } from "../../access/snapshots/snapshot-paths.ts";
import { createRequestConditions } from "../../access/evaluation/condition-budget.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import { listPageOfIds } from "../../standard-methods/read/list-page.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { listContents } from "./list-contents.ts";
import { findSubject, readAttributes, readStaleness, readSubject } from "./read-check-request.ts";
import { requireOwnPermission } from "./require-known-permission.ts";

/** Creates the method that lists the projects of an org, or the resources in them, on which a subject has a permission. */
export function createListResources(dependencies: AccessDependencies) {
  const { subjectOrgs, requireReached, pageTokens } = dependencies;
  return async (request: ListResourcesRequest, context: HandlerContext): Promise<ListResourcesResponse> => {
    const { permission, subjectPath, parentPath } = request;
    const caller = callerOf(context);
    const named = readSubject(subjectPath, "subject_path");
    const [org] = parseResourcePath(patterns.Org, parentPath, "parent_path");
    const attributes = readAttributes(request.context, "context");
    const staleness = readStaleness(request.maxStaleness, request.revision);
    const [of, within] = await Promise.all([
      subjectOrgs.confirm(caller, named.org, "iam.access.list", staleness),
      subjectOrgs.confirm(caller, org, "iam.access.list", staleness),
    ]);
    if (within === undefined) throw notFound("org", formatReferences(patterns.Org, [org]));
    requireOwnPermission(dependencies, (of ?? within).snapshot, permission, "permission");
    if (of !== undefined) await requireReached(of.snapshot, request.revision, "revision");
    const subject = of && findSubject(of.snapshot, named);
    if (of === undefined || subject === undefined) {
      return create(ListResourcesResponseSchema, { revision: of?.snapshot.revision ?? "" });
    }
    const check: CheckRequest = {
      subject,
      attributes,
      now: of.now,
      counted: "all",
      conditions: createRequestConditions(),
    };
    const binding = ["ListResources", subjectPath, permission, parentPath, JSON.stringify(attributes)];
    if (request.kind === ListResourcesRequest_Kind.RESOURCE) {
      return listContents(dependencies, request, { of: of.snapshot, within: within.snapshot, check }, context);
    }
    const isSameOrg = of.snapshot.org.id === within.snapshot.org.id;
    // In the subject's own org, its bindings on the project count; in another org, only grants above the org.
    const accepts = (id: string): boolean => allows(of.snapshot, check, permission, resolveById(within.snapshot, id));
    const list = function* (): Steps<ListResourcesResponse> {
      // The revision before the decisions. In another org, the snapshot may be newer after them.
      const { revision } = of.snapshot;
      const { rows: ids, nextPageToken } = yield* listPageOfIds(pageTokens, request, binding, (after, limit) =>
        isSameOrg
          ? listOwn(of.snapshot, check, permission, { after, limit, accepts })
          : listAll(within.snapshot, { after, limit, accepts }),
      );
      const resourcePaths = ids.map((id) => projectPathIn(within.snapshot, id));
      return create(ListResourcesResponseSchema, { resourcePaths, nextPageToken, revision });
    };
    return readInSteps(within.snapshot, list, slicesOf(context));
  };
}

function listOwn(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  page: PageOptions,
): Steps<readonly string[]> {
  const { subject, now, counted } = check;
  const contextOf = (resource: TargetScope) => {
    const id = resource.kind === "project" ? resource.projectId : undefined;
    return conditionInputOf(snapshot, check, resolveById(snapshot, id));
  };
  return listResources(snapshot, { subject, permission, kind: "project", now, contextOf, counted, ...page });
}

/** Lists all projects, for a subject of another org: its grants are above the projects. */
function* listAll(snapshot: OrgSnapshot, options: PageOptions): Steps<readonly string[]> {
  const page = createIdPage(snapshot.projects, options);
  yield* offerAll(snapshot, page, () => true);
  return page.ids();
}
