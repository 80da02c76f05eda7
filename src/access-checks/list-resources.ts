import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ListResourcesRequest,
  type ListResourcesResponse,
  ListResourcesResponseSchema,
} from "../../gen/iam/v1alpha/access_pb.ts";
import { callerOf } from "../access/call.ts";
import { type PageOptions, createIdPage } from "../access/engine/id-page.ts";
import { listResources } from "../access/engine/list-resources.ts";
import type { OrgSnapshot } from "../access/engine/org-snapshot.ts";
import type { Resource } from "../access/engine/resource.ts";
import { allows } from "../access/evaluation/allows.ts";
import { conditionContextOf } from "../access/evaluation/condition-context.ts";
import type { Question } from "../access/evaluation/question.ts";
import { resolveById } from "../access/evaluation/resolve-in-snapshot.ts";
import { projectPathIn } from "../access/snapshots/snapshot-paths.ts";
import { notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { parseResourcePath } from "../paths/resource-path.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { pageOfIds } from "./page-of-ids.ts";
import { createMayAskAbout } from "./may-ask-about.ts";
import { findSubject, readAttributes, readStaleness, readSubject, requireReached } from "./read-question.ts";

/** The projects of an org to which a subject may do something. */
export function createListResources(dependencies: AccessDependencies) {
  const { subjectOrgs, pageTokens } = dependencies;
  const mayAskAbout = createMayAskAbout(dependencies);
  return async (request: ListResourcesRequest, context: HandlerContext): Promise<ListResourcesResponse> => {
    const { permission, subjectPath, parentPath } = request;
    const caller = callerOf(context);
    const named = readSubject(subjectPath, "subject_path");
    const [org] = parseResourcePath(patterns.Org, parentPath, "parent_path");
    const attributes = readAttributes(request.context, "context");
    const staleness = readStaleness(request.maxStaleness, request.revision);
    const mayAsk = await mayAskAbout(caller, named.org, "iam.access.list");
    const [of, within] = await Promise.all([
      mayAsk ? subjectOrgs.confirm(caller, named.org, staleness) : undefined,
      subjectOrgs.confirm(caller, org, staleness),
    ]);
    if (within === undefined) throw notFound("org", formatReferences(patterns.Org, [org]));
    if (of !== undefined) requireReached(of.snapshot, request.revision, "revision");
    const subject = of && findSubject(of.snapshot, named);
    if (of === undefined || subject === undefined) {
      return create(ListResourcesResponseSchema, { revision: of?.snapshot.revision ?? "0" });
    }
    const question: Question = { subject, attributes, now: of.now };
    const binding = ["ListResources", subjectPath, permission, parentPath, JSON.stringify(attributes)];
    const isSameOrg = of.snapshot.org.id === within.snapshot.org.id;
    const above = resolveById(within.snapshot).resource;
    const accepts = (id: string): boolean => {
      // In its own org the subject's bindings on the project count; in another one what is granted above it.
      const project = resolveById(within.snapshot, id);
      return allows(of.snapshot, question, permission, isSameOrg ? project : { ...project, resource: above });
    };
    const { ids, nextPageToken } = pageOfIds(pageTokens, request, binding, (after, limit) =>
      isSameOrg
        ? listOwn(of.snapshot, question, permission, { after, limit, accepts })
        : listAll(within.snapshot, { after, limit, accepts }),
    );
    return create(ListResourcesResponseSchema, {
      resourcePaths: ids.map((id) => projectPathIn(within.snapshot, id)),
      nextPageToken,
      revision: of.snapshot.revision,
    });
  };
}

function listOwn(snapshot: OrgSnapshot, question: Question, permission: string, page: PageOptions): readonly string[] {
  const { subject, now } = question;
  const contextOf = (resource: Resource) => {
    const id = resource.kind === "project" ? resource.projectId : undefined;
    return conditionContextOf(snapshot, question, resolveById(snapshot, id));
  };
  return listResources(snapshot, { subject, permission, kind: "project", now, contextOf, ...page });
}

/** All projects, for a subject of another org: what it holds is granted above them. */
function listAll({ projects }: OrgSnapshot, options: PageOptions): readonly string[] {
  const page = createIdPage(projects, options);
  for (let project = 1; project < projects.records.end(); project++) {
    if (projects.isLive(project) && page.wants(project)) page.add(project);
  }
  return page.ids();
}
