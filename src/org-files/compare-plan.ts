// Compares the org of a call with the file that it sends.
import type { JsonObject } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type FileSource, type PlanOrgRequest, Prune } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { callerOf, slicesOf, targetOf } from "../access/evaluation/call.ts";
import type { Database } from "../database/database.ts";
import type { Installation } from "../identity/installation.ts";
import { invalidField } from "../errors/service-error.ts";
import { parseResourcePath } from "../paths/parse-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { Prepared } from "./apply-plan.ts";
import { type Drift, findDrifts } from "./find-drifts.ts";
import { type RaiseDependencies, findUnraisable } from "./find-unraisable.ts";
import { limitOf } from "./limits.ts";
import { findManagedChanges } from "./managed-changes.ts";
import { type ManagedResources, managerOf, readManaged } from "./managed-resources.ts";
import type { Source } from "./managed-store.ts";
import {
  type ImpliedRemoval,
  type Plan,
  type PlanOptions,
  hashChanges,
  hashRequest,
  planChanges,
} from "./plan-changes.ts";
import { type AccessDependencies, type AccessWanted, type PlannedAccess, findAccess } from "./planned-access.ts";
import { type Steps, createStepCounter } from "../scheduling/steps.ts";
import { type OrgFile, readFile } from "./read-file.ts";
import { type OrgState, readState, readUnchanged } from "./read-state.ts";
import type { StateResource } from "./state-resource.ts";
import { requireKnownKinds } from "./unknown-kinds.ts";
import { requireKnownPermissions } from "./unknown-permissions.ts";
import { findUsedProviders } from "./used-providers.ts";

/** What the requests to plan and to apply share. */
export type FileRequest = Pick<PlanOrgRequest, "prune" | "maxRemovalPercent"> & {
  readonly orgFile?: JsonObject | undefined;
  readonly source?: FileSource | undefined;
  /** Empty for the caller, who is the author of an apply. */
  readonly authorPath?: string;
};

/** What goes with something that is removed, and who manages it; undefined for nobody, or if the request has no source. */
interface ImpliedChange extends ImpliedRemoval {
  readonly managedBy: Source | undefined;
}

/** A plan with what it says besides what it changes. */
export interface Compared extends Prepared, Pick<PlannedAccess, "preview"> {
  readonly drifts: readonly Drift[];
  readonly implied: readonly ImpliedChange[];
}

const defaultRemovalPercent = 10;

interface Dependencies extends AccessDependencies, RaiseDependencies {
  readonly database: Database;
  readonly installation: Pick<Installation, "commandLineClientId">;
}

/**
 * Compares an org with a file. If the org changes meanwhile, compares it again.
 *
 * @throws ServiceError ETAG_STALE when the org keeps changing, and what `readState`, `readFile`, `planChanges` and `findAccess` throw.
 */
export async function comparePlan(
  dependencies: Dependencies,
  request: FileRequest,
  context: HandlerContext,
  wanted: AccessWanted,
): Promise<Compared> {
  const [org] = targetOf(context, patterns.Org);
  return readUnchanged(org, async () => {
    const state = await readState(dependencies, context, org);
    return state && compareState(dependencies, request, context, wanted, state);
  });
}

/** Returns undefined if the org has changed since its state was read. */
async function compareState(
  dependencies: Dependencies,
  request: FileRequest,
  context: HandlerContext,
  wanted: AccessWanted,
  state: OrgState,
): Promise<Compared | undefined> {
  const slices = slicesOf(context);
  const { source } = request;
  const file = await slices.run(readFile(request.orgFile ?? {}, state.name));
  const noted: ManagedResources =
    source === undefined ? new Map() : await readManaged(dependencies.database.reads, state.id);
  const authorId = findAuthor(state, request.authorPath) ?? callerOf(context).memberId;
  const { maxRemovalPercent = defaultRemovalPercent } = request;
  const isOutside = (resource: StateResource): boolean =>
    saysNothingOf(file, resource) && managerOf(noted, resource) === undefined;
  const prunes = prunesOf(request, file, noted, dependencies.installation);
  const options = { prunes, isOutside, maxRemovalPercent, authorId };
  const plan = await slices.run(planChanges(state, file, options));
  await slices.run(requireKnownPermissions(state, plan, dependencies.knownPermissions));
  await requireKnownKinds(dependencies.database, file);
  const access = await findAccess(dependencies, context, { state, plan, ...file }, wanted);
  if (access === undefined) return undefined;
  const implied = await slices.run(findImplied(plan, noted));
  const inside = { ...state, resources: state.resources.filter((each) => !isOutside(each)) };
  return {
    state,
    plan: {
      ...plan,
      obstacles: [
        ...plan.obstacles,
        ...(await findUsedProviders(dependencies.database, state, plan)),
        ...managedByOthers(request, implied),
        ...(await findUnraisable(dependencies, context, state, plan.quotas, request.authorPath)),
        ...access.obstacles,
      ],
    },
    token: {
      revision: state.revision,
      changes: await slices.run(hashChanges(plan)),
      request: hashRequest([request.orgFile, request.prune, source?.address]),
    },
    preview: access.preview,
    implied,
    drifts: source === undefined ? [] : await slices.run(findDrifts(noted, inside, file)),
    managed: source && {
      source,
      before: noted,
      changes: await slices.run(findManagedChanges(noted, source, state, file, plan)),
    },
  };
}

/** Whether a resource is a limit of an org or project whose quota the file does not have. One from before quotas were in files lifts none. */
function saysNothingOf({ quotas }: OrgFile, resource: StateResource): boolean {
  const limit = limitOf(resource);
  return limit !== undefined && !quotas.has(limit.level);
}

/**
 * Returns what a plan may remove. Never the client with which the command line signs people in: the service has made it, so a file can lack
 * it without meaning that, and it is not made again.
 *
 * @throws ServiceError FIELD_INVALID when the source is missing that says what is managed.
 */
function prunesOf(
  { prune, source }: FileRequest,
  file: OrgFile,
  managed: ManagedResources,
  { commandLineClientId }: Dependencies["installation"],
): PlanOptions["prunes"] {
  const isManaged = (resource: StateResource): boolean =>
    source !== undefined && managerOf(managed, resource)?.address === source.address;
  if (prune === Prune.ALL)
    return (resource) => resource.id !== commandLineClientId && (!saysNothingOf(file, resource) || isManaged(resource));
  if (prune !== Prune.MANAGED) return undefined;
  if (source === undefined) throw invalidField("source", "must be set to prune what it manages", "source");
  return (resource) => resource.id !== commandLineClientId && isManaged(resource);
}

function* findImplied(plan: Plan, managed: ManagedResources): Steps<readonly ImpliedChange[]> {
  const isStepOver = createStepCounter();
  const implied: ImpliedChange[] = [];
  for (const each of plan.implied) {
    implied.push({ ...each, managedBy: managerOf(managed, each.resource) });
    if (isStepOver()) yield;
  }
  return implied;
}

/** How many removals are told that another source stands in the way of. */
const maxRefused = 100;

/** Returns what is refused because a source would remove what another one manages, for each removal with which it would go. */
function managedByOthers({ prune, source }: FileRequest, implied: readonly ImpliedChange[]): readonly string[] {
  if (prune !== Prune.MANAGED) return [];
  const ofOthers = implied.filter(({ managedBy }) => managedBy !== undefined && managedBy.address !== source?.address);
  return [...Map.groupBy(ofOthers, ({ withPath }) => withPath)]
    .slice(0, maxRefused)
    .map(([withPath, [first, ...more]]) => {
      const others = more.length === 0 ? "" : `, and ${more.length} more of other sources`;
      return `${withPath} would be removed, and with it ${first?.resource.path}, which ${first?.managedBy?.address} manages${others}: remove them there first`;
    });
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
