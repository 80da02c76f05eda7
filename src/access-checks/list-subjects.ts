import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ListSubjectsRequest,
  type ListSubjectsResponse,
  ListSubjectsResponseSchema,
} from "../../gen/iam/v1alpha/access_pb.ts";
import { callerOf } from "../access/call.ts";
import { listSubjects } from "../access/engine/list-subjects.ts";
import { allows } from "../access/evaluation/allows.ts";
import { conditionContextOf } from "../access/evaluation/condition-context.ts";
import { orgIn, parseTargetPath } from "../access/evaluation/target-path.ts";
import { memberPathIn } from "../access/snapshots/snapshot-paths.ts";
import { invalidField, notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { pageOfIds } from "./page-of-ids.ts";
import { readAttributes, readStaleness, requireReached } from "./read-question.ts";

/** The members of the resource's org who may do something to it. */
export function createListSubjects({ evaluator, subjectOrgs, pageTokens }: AccessDependencies) {
  return async (request: ListSubjectsRequest, context: HandlerContext): Promise<ListSubjectsResponse> => {
    const { permission, resourcePath } = request;
    const path = parseTargetPath(resourcePath, "resource_path");
    const org = orgIn(path);
    if (org === undefined) throw invalidField("resource_path", "must name an Org or what is in one", "org");
    const attributes = readAttributes(request.context, "context");
    const staleness = readStaleness(request.maxStaleness, request.revision);
    const confirmed = await subjectOrgs.confirm(callerOf(context), org, staleness);
    if (confirmed === undefined) throw notFound("org", formatReferences(patterns.Org, [org]));
    const { snapshot, now } = confirmed;
    requireReached(snapshot, request.revision, "revision");
    const target = await evaluator.resolve(snapshot, path);
    if (target === undefined) throw notFound("org", formatReferences(patterns.Org, [org]));
    const questionOfMember = (id: string) => ({ subject: { kind: "member", id } as const, attributes, now });
    const binding = ["ListSubjects", permission, resourcePath, JSON.stringify(attributes)];
    // Where something is suspended not all who hold the permission have access.
    const accepts =
      target.suspended === undefined
        ? undefined
        : (id: string) => allows(snapshot, questionOfMember(id), permission, target);
    const { ids, nextPageToken } = pageOfIds(pageTokens, request, binding, (after, limit) =>
      listSubjects(snapshot, {
        permission,
        resource: target.resource,
        now,
        contextOf: (member) => conditionContextOf(snapshot, questionOfMember(snapshot.members.idOf(member)), target),
        after,
        limit,
        accepts,
      }),
    );
    return create(ListSubjectsResponseSchema, {
      subjectPaths: ids.map((id) => memberPathIn(snapshot, id)),
      nextPageToken,
      revision: snapshot.revision,
    });
  };
}
