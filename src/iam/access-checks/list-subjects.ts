import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ListSubjectsRequest,
  type ListSubjectsResponse,
  ListSubjectsResponseSchema,
} from "../../../gen/iam/v1alpha/access_pb.ts";
import { callerOf, slicesOf } from "../../access/evaluation/call.ts";
import { listSubjects } from "../../access/engine/decisions/list-subjects.ts";
import type { Steps } from "../../scheduling/steps.ts";
import { allows } from "../../access/evaluation/allows.ts";
import { conditionInputOf } from "../../access/evaluation/condition-input.ts";
import { askedAbout } from "../../access/evaluation/resolved-target.ts";
import type { CheckRequest } from "../../access/evaluation/check-request.ts";
import { readInSteps } from "../../access/evaluation/read-in-steps.ts";
import { parseTargetPath } from "../../access/evaluation/target-path.ts";
import { memberPathIn } from "../../access/snapshots/snapshot-paths.ts";
import { createRequestConditions } from "../../access/evaluation/condition-budget.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { listPageOfIds } from "../../standard-methods/read/list-page.ts";
import { pastBinding, readAsOf } from "./as-of.ts";
import { askingOf } from "./check-access.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { findListedOrg } from "./find-listed-org.ts";
import { readAttributes, readStaleness } from "./read-check-request.ts";
import { requireOwnPermission } from "./require-known-permission.ts";

const permissionToList = "iam.access.list";

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
    const target = askedAbout(found);
    const conditions = createRequestConditions();
    const checkRequestOfMember = (id: string): CheckRequest => ({
      subject: { kind: "member", id },
      attributes,
      now,
      counted: "all",
      conditions,
    });
    const binding = [
      "ListSubjects",
      permission,
      resourcePath,
      JSON.stringify(attributes),
      ...pastBinding(asOf, snapshot),
    ];
    // On a suspended resource, not all members who hold the permission have access.
    const accepts =
      target.suspensions.length === 0
        ? undefined
        : (id: string) => allows(snapshot, checkRequestOfMember(id), permission, target);
    const contextOf = (member: number) =>
      conditionInputOf(snapshot, checkRequestOfMember(snapshot.members.idOf(member)), target);
    const list = function* (): Steps<ListSubjectsResponse> {
      const { rows: ids, nextPageToken } = yield* listPageOfIds(pageTokens, request, binding, (after, limit) =>
        listSubjects(snapshot, {
          permission,
          resource: target.resource,
          now,
          contextOf,
          after,
          limit,
          accepts,
        }),
      );
      const subjectPaths = ids.map((id) => memberPathIn(snapshot, id));
      return create(ListSubjectsResponseSchema, { subjectPaths, nextPageToken, revision: snapshot.revision });
    };
    return readInSteps(snapshot, list, slicesOf(context));
  };
}
