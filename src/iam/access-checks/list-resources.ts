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
import { withSupport } from "../../access/evaluation/support-access.ts";
import { projectPathIn } from "../../access/snapshots/snapshot-paths.ts";
import { createRequestConditions } from "../../access/evaluation/condition-budget.ts";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { type Reference, parseResourcePath } from "../../paths/parse-path.ts";
import { listPageOfIds } from "../../standard-methods/read/list-page.ts";
import { type AsOf, pastBinding, readAsOf } from "./as-of.ts";
import { askingOf } from "./check-access.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { listContents } from "./list-contents.ts";
import { type NamedSubject, findSubject, readAttributes, readStaleness, readSubject } from "./read-check-request.ts";
import { requireOwnPermission } from "./require-known-permission.ts";

/** Creates the method that lists the projects of an org, or the resources in them, on which a subject has a permission. */
export function createListResources(dependencies: AccessDependencies) {
  const { evaluator, requireReached, pageTokens } = dependencies;
  const confirm = createConfirmBoth(dependencies);
  return async (request: ListResourcesRequest, context: HandlerContext): Promise<ListResourcesResponse> => {
    const { permission, subjectPath, parentPath } = request;
    const named = readSubject(subjectPath, "subject_path");
    const [org] = parseResourcePath(patterns.Org, parentPath, "parent_path");
    const attributes = readAttributes(request.context, "context");
    const asOf = readAsOf(request);
    const { of, within } = await confirm(context, request, { named, org, asOf });
    if (within === undefined) throw notFound("org", formatReferences(patterns.Org, [org]));
    requireOwnPermission(dependencies, (of ?? within).snapshot, permission, "permission");
    if (of !== undefined) await requireReached(of.snapshot, request.revision, "revision");
    const isSameOrg = of?.snapshot.org.id === within.snapshot.org.id;
    const place = { pattern: patterns.Org, references: [{ by: "id", value: within.snapshot.org.id } as const] };
    const support = of === undefined || isSameOrg ? undefined : (await evaluator.resolve(of.snapshot, place))?.support;
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
    const binding = [
      "ListResources",
      subjectPath,
      permission,
      parentPath,
      JSON.stringify(attributes),
      ...pastBinding(asOf, of.snapshot),
    ];
    if (request.kind === ListResourcesRequest_Kind.RESOURCE) {
      return listContents(dependencies, request, { of: of.snapshot, within: within.snapshot, check, support }, context);
    }
    // In the subject's own org, its bindings on the project count; in another org, only grants above the org.
    const accepts = (id: string): boolean =>
      allows(of.snapshot, check, permission, withSupport(resolveById(within.snapshot, id), support));
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

interface Named {
  readonly named: NamedSubject;
  /** That of the projects. */
  readonly org: Reference;
  readonly asOf: AsOf | undefined;
}

/** Creates the function that returns the org of the subject and that of the projects, as of now or as they were. */
function createConfirmBoth({ subjectOrgs, openPastOrg }: Pick<AccessDependencies, "subjectOrgs" | "openPastOrg">) {
  const permission = "iam.access.list";
  return async (context: HandlerContext, request: ListResourcesRequest, { named, org, asOf }: Named) => {
    const caller = callerOf(context);
    const staleness = readStaleness(request.maxStaleness, request.revision);
    const [of, within] = await Promise.all([
      subjectOrgs.confirm(caller, named.org, permission, staleness),
      subjectOrgs.confirm(caller, org, permission, staleness),
    ]);
    if (asOf === undefined || of === undefined || within === undefined) return { of, within };
    if (request.kind === ListResourcesRequest_Kind.RESOURCE) {
      throw invalidField(
        "kind",
        "must be PROJECT as of an earlier moment: the resources of then are not known",
        "as_of",
      );
    }
    if (of.snapshot.org.id !== within.snapshot.org.id) {
      throw invalidField("subject_path", "must be in the Org of parent_path as of an earlier moment", "as_of");
    }
    const opened = await openPastOrg(askingOf(context), of, permission, asOf);
    opened.past.requireKept(named);
    return { of: opened, within: opened };
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
