// Compares the org of a call with the file that it sends.
import type { JsonObject } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type FileSource, type PlanOrgRequest, Prune } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { callerOf, slicesOf, targetOf } from "../access/evaluation/call.ts";
import type { Database } from "../database/database.ts";
import { invalidField } from "../errors/service-error.ts";
import { parseResourcePath } from "../paths/parse-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { Prepared } from "./apply-plan.ts";
import {
  type Drift,
  type ManagedResources,
  findDrifts,
  findManagedChanges,
  managerOf,
  readManaged,
} from "./managed-resources.ts";
import { type PlanOptions, hashChanges, hashRequest, planChanges } from "./plan-changes.ts";
import { type AccessDependencies, type AccessWanted, type PlannedAccess, findAccess } from "./planned-access.ts";
import { readFile } from "./read-file.ts";
import { type OrgState, readState } from "./read-state.ts";

/** What the requests to plan and to apply share. */
export type FileRequest = Pick<PlanOrgRequest, "prune" | "maxRemovalPercent"> & {
  readonly orgFile?: JsonObject | undefined;
  readonly source?: FileSource | undefined;
  /** Empty for the caller, who is the author of an apply. */
  readonly authorPath?: string;
};

/** A plan with what it says besides what it changes. */
export type Compared = Prepared & Pick<PlannedAccess, "preview"> & { readonly drifts: readonly Drift[] };

const defaultRemovalPercent = 10;

interface Dependencies extends AccessDependencies {
  readonly database: Database;
}

export async function comparePlan(
  dependencies: Dependencies,
  request: FileRequest,
  context: HandlerContext,
  wanted: AccessWanted,
): Promise<Compared> {
  const [org] = targetOf(context, patterns.Org);
  const slices = slicesOf(context);
  const { source } = request;
  const state = await readState(dependencies.ofCaller, context, org);
  const file = await slices.run(readFile(request.orgFile ?? {}, state.name));
  const noted: ManagedResources =
    source === undefined ? new Map() : await readManaged(dependencies.database.reads, state.id);
  const authorId = findAuthor(state, request.authorPath) ?? callerOf(context).memberId;
  const { maxRemovalPercent = defaultRemovalPercent } = request;
  const options = { prunes: prunesOf(request, noted), maxRemovalPercent, authorId };
  const plan = await slices.run(planChanges(state, file, options));
  const { preview, obstacles } = await findAccess(dependencies, context, { state, plan, ...file }, wanted);
  return {
    state,
    plan: { ...plan, obstacles: [...plan.obstacles, ...obstacles] },
    token: {
      revision: state.revision,
      changes: await slices.run(hashChanges(plan)),
      request: hashRequest([request.orgFile, request.prune, source?.address]),
    },
    preview,
    drifts: source === undefined ? [] : await slices.run(findDrifts(noted, state, file)),
    managed: source && {
      source,
      changes: await slices.run(findManagedChanges(noted, source, state, file, plan.removed)),
    },
  };
}

/** @throws ServiceError FIELD_INVALID when the source is missing that says what is managed. */
function prunesOf({ prune, source }: FileRequest, managed: ManagedResources): PlanOptions["prunes"] {
  if (prune === Prune.ALL) return () => true;
  if (prune !== Prune.MANAGED) return undefined;
  if (source === undefined) throw invalidField("source", "must be set to prune what it manages", "source");
  return (path) => managerOf(managed, path)?.address === source.address;
}

/**
 * Returns the id of the member that a path names; undefined if there is no path.
 *
 * @throws ServiceError PATH_INVALID, FIELD_INVALID when it is no member of the org.
 */
function findAuthor({ id, name, resources }: OrgState, path = ""): string | undefined {
  if (path === "") return undefined;
  const [org, member] = parseResourcePath(patterns.Member, path, "author_path");
  const isHere = org.by !== "any" && org.value === (org.by === "id" ? id : name);
  const found = resources.find(
    (each) =>
      each.type === "member" &&
      (member.by === "id" ? each.id === member.value : member.by === "name" && each.path === `members/${member.value}`),
  );
  if (!isHere || found === undefined)
    throw invalidField("author_path", `must be a member of the org, /orgs/${name}/members/NAME`, "author_path");
  return found.id;
}
