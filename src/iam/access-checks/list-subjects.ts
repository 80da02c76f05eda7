import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ListSubjectsRequest,
  type ListSubjectsResponse,
  ListSubjectsResponseSchema,
} from "../../../gen/iam/v1alpha/access_pb.ts";
import { callerOf, slicesOf } from "../../access/evaluation/call.ts";
import { type SubjectsQuery, listSubjects } from "../../access/engine/decisions/list-subjects.ts";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import type { Steps } from "../../scheduling/steps.ts";
import { allows } from "../../access/evaluation/allows.ts";
import { conditionInputOf } from "../../access/evaluation/condition-input.ts";
import { type ResolvedTarget, askedAbout } from "../../access/evaluation/resolved-target.ts";
import type { CheckRequest } from "../../access/evaluation/check-request.ts";
import { readInSteps } from "../../access/evaluation/read-in-steps.ts";
import { parseTargetPath } from "../../access/evaluation/target-path.ts";
import { memberPathIn } from "../../access/snapshots/snapshot-paths.ts";
import { createRequestConditions } from "../../access/evaluation/condition-budget.ts";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { positionOf } from "../../standard-methods/read/list-page.ts";
import { pastBinding, readAsOf } from "./as-of.ts";
import { askingOf } from "./check-access.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { findListedOrg } from "./find-listed-org.ts";
import { readAttributes, readStaleness } from "./read-check-request.ts";
import { requireOwnPermission } from "./require-known-permission.ts";

const permissionToList = "iam.access.list";

/** How long conditions are compiled and members are decided about at once, in milliseconds: as long as that takes, changes of the org wait. */
const maxDecidingMs = 2_000;

/** Creates the method that lists the members of the resource's org, or of the org `system` for a service, who have a permission on the resource. */
export function createListSubjects(dependencies: AccessDependencies) {
  const { evaluator, installation, subjectOrgs, requireReached, pageTokens, openPastOrg } = dependencies;
  return async (request: ListSubjectsRequest, context: HandlerContext): Promise<ListSubjectsResponse> => {
    const { permission, resourcePath } = request;
    const named = parseTargetPath(resourcePath, "resource_path");
    const asOf = readAsOf(request);
    const org = findListedOrg(named, installation.systemOrgId, "resource_path");
    const attributes = readAttributes(request.context, "context");
    const staleness = readStaleness(request.maxStaleness, request.revision);
    const caller = callerOf(context);
    const confirmed = await subjectOrgs.confirm(caller, org, permissionToList, staleness);
    if (confirmed === undefined) throw notFound("org", formatReferences(patterns.Org, [org]));
    const opened = asOf && (await openPastOrg(askingOf(context), confirmed, permissionToList, asOf));
    const { snapshot, now } = opened ?? confirmed;
    const path = opened?.past.locate(named, "resource_path") ?? named;
    requireOwnPermission(dependencies, snapshot, permission, "permission");
    await requireReached(snapshot, request.revision, "revision");
    const found = await evaluator.resolve(snapshot, path);
    if (found === undefined) throw notFound("resource", resourcePath);
    const binding = [
      "ListSubjects",
      permission,
      resourcePath,
      JSON.stringify(attributes),
      ...pastBinding(asOf, snapshot),
    ];
    const { after, size } = positionOf(pageTokens, request, binding);
    const page = { after: after?.[0], limit: size + 1 };
    const list = function* (): Steps<ListSubjectsResponse | undefined> {
      const target = askedAbout(evaluator.resolveAgain(snapshot, path, found));
      const query = { ...queryOf({ snapshot, permission, target, attributes, now }), ...page };
      const { ids, endsAfter, isUnfinished } = yield* listSubjects(snapshot, query);
      if (isUnfinished) return undefined;
      const last = ids.length > size ? ids[size - 1] : endsAfter;
      const subjectPaths = ids.slice(0, size).map((id) => memberPathIn(snapshot, id));
      const nextPageToken = last === undefined ? "" : pageTokens.encode([last], binding);
      return create(ListSubjectsResponseSchema, { subjectPaths, nextPageToken, revision: snapshot.revision });
    };
    for (;;) {
      // The org can change between two attempts.
      const answer = await readInSteps(snapshot, list, slicesOf(context));
      if (answer !== undefined) return answer;
    }
  };
}

interface Asked {
  readonly snapshot: OrgSnapshot;
  readonly permission: string;
  readonly target: ResolvedTarget;
  readonly attributes: CheckRequest["attributes"];
  readonly now: number;
}

/** Returns what is asked about each member. All members share the budget of the request. */
function queryOf({ snapshot, permission, target, attributes, now }: Asked): Omit<SubjectsQuery, "after" | "limit"> {
  const check = { attributes, now, counted: "all", conditions: createRequestConditions() } as const;
  const checkOf = (id: string): CheckRequest => ({ ...check, subject: { kind: "member", id } });
  let endMs: number | undefined;
  return {
    permission,
    resource: target.resource,
    now,
    contextOf(member) {
      const subject = member === undefined ? undefined : ({ kind: "member", record: member } as const);
      return conditionInputOf(snapshot, { ...check, subject }, target);
    },
    // On a suspended resource, not all members who hold the permission have access.
    decides: target.suspensions.length === 0 ? undefined : (id) => allows(snapshot, checkOf(id), permission, target),
    bound: {
      isOver: () => performance.now() > (endMs ??= performance.now() + maxDecidingMs),
      // The conditions of the next page have a budget of their own.
      isExceededBy: (error) => error instanceof ServiceError && error.reason === "LIMIT_EXCEEDED",
    },
  };
}
