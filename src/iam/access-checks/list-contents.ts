// Lists the resources in the projects of an org on which a subject has a permission. They are not in the snapshot: they are read in the
// order of their ids and decided one by one, as checks of their paths are. How many are read, and what their conditions may cost, is
// bounded for each page, whatever the size of the page, the number of resources and how few of them are found.
import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ListResourcesRequest,
  type ListResourcesResponse,
  ListResourcesResponseSchema,
} from "../../../gen/iam/v1alpha/access_pb.ts";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import { ownAreas } from "../../access/engine/tables/permission-class.ts";
import { allows } from "../../access/evaluation/allows.ts";
import { slicesOf } from "../../access/evaluation/call.ts";
import type { CheckRequest } from "../../access/evaluation/check-request.ts";
import { readInSteps } from "../../access/evaluation/read-in-steps.ts";
import { resolveInside } from "../../access/evaluation/resolve-in-snapshot.ts";
import { withSupport } from "../../access/evaluation/support-access.ts";
import type { SupportAccess } from "../../access/evaluation/support-grants.ts";
import { projectPathIn } from "../../access/snapshots/snapshot-paths.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { patterns } from "../../paths/patterns.ts";
import { type Steps, createStepCounter } from "../../scheduling/steps.ts";
import { positionOf } from "../../standard-methods/read/list-page.ts";
import type { AccessDependencies, ContainedResource } from "./dependencies.ts";

/** How many resources are read for a page at most. */
const maxRead = 2_000;

interface Question {
  /** The snapshot of the subject's org. */
  readonly of: OrgSnapshot;
  /** The snapshot of the org with the resources. */
  readonly within: OrgSnapshot;
  readonly check: CheckRequest;
  /** What the org with the resources has approved, if it has to approve what the subject does there. */
  readonly support: SupportAccess | undefined;
}

export async function listContents(
  { projectContents, pageTokens }: Pick<AccessDependencies, "projectContents" | "pageTokens">,
  request: ListResourcesRequest,
  { of, within, check, support }: Question,
  context: HandlerContext,
): Promise<ListResourcesResponse> {
  const { permission, subjectPath, parentPath } = request;
  const binding = ["ListResources", "RESOURCE", subjectPath, permission, parentPath, JSON.stringify(check.attributes)];
  const { after, size } = positionOf(pageTokens, request, binding);
  const query = { orgId: within.org.id, type: typeOf(permission), after: after?.[0] };
  const found = await projectContents.read(query, maxRead);

  const list = function* (): Steps<ListResourcesResponse> {
    const { revision } = of;
    const resourcePaths: string[] = [];
    const isStepOver = createStepCounter();
    let decided = 0;
    for (const resource of found) {
      if (resourcePaths.length === size) break;
      try {
        if (resource.isWanted && isAllowed(resource)) resourcePaths.push(pathOf(resource));
      } catch (error) {
        // The conditions of the next page have a budget of their own.
        if (decided > 0 && error instanceof ServiceError && error.reason === "LIMIT_EXCEEDED") break;
        throw error;
      }
      decided++;
      if (isStepOver()) yield;
    }
    const last = found[decided - 1];
    const isLast = decided === found.length && found.length < maxRead;
    const nextPageToken = isLast || last === undefined ? "" : pageTokens.encode([last.id], binding);
    return create(ListResourcesResponseSchema, { resourcePaths, nextPageToken, revision });
  };

  const isAllowed = ({ projectId, name }: ContainedResource): boolean => {
    // What is in a deleted project is deleted with it. A project that is newer than the snapshot comes with the next question.
    const project = within.projects.findById(projectId);
    if (project === 0 || !within.projects.isLive(project)) return false;
    const place = [within.org.id, projectId].map((value) => ({ by: "id", value }) as const);
    const path = { pattern: patterns.Resource, references: [...place, { by: "name", value: name } as const] };
    return allows(of, check, permission, withSupport(resolveInside(within, path), support));
  };
  const pathOf = ({ projectId, name }: ContainedResource) => `${projectPathIn(within, projectId)}/resources/${name}`;

  return readInSteps(within, list, slicesOf(context));
}

/** Returns the type that a permission is about; undefined if it can be about all types. */
function typeOf(permission: string): string | undefined {
  const [area = "", collection = ""] = permission.split(".");
  return ownAreas.has(area) ? undefined : `${area}.${collection}`;
}
