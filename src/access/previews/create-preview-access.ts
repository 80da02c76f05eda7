import type { AccessPreview } from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import type { Database } from "../../database/database.ts";
import type { Caller } from "../../identity/caller.ts";
import { required } from "../../errors/required.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import { allows } from "../evaluation/allows.ts";
import type { AccessEvaluator } from "../evaluation/evaluator.ts";
import type { ViewCaller } from "../evaluation/caller-view.ts";
import { resolveById } from "../evaluation/resolve-in-snapshot.ts";
import type { PreviewAccess, Written } from "./preview.ts";
import { memberPathIn } from "../snapshots/snapshot-paths.ts";
import type { Snapshots } from "../snapshots/current-snapshots.ts";
import { toLogEntry } from "../snapshots/to-log-entry.ts";
import { previewInSteps } from "./preview-in-steps.ts";
import { type PreviewedMember, listApplicationKeys } from "./application-keys.ts";
import { createResolveResource } from "./resolve-resources.ts";
import { type OrgPreview, firstDifferences, toAccessPreview } from "./to-access-preview.ts";
import type { LogEntry } from "../engine/loading/apply-entry.ts";
import { type MembershipRow, type RoleBindingRow, type Time, readTime } from "../engine/loading/rows.ts";

/** The permissions that together allow to see who may do what on a resource. */
const seeing = ["iam.access.explain", "iam.access.list"];

const seeingKeys = "iam.apiKeys.list";

/** The maximum number of access changes in a preview, and of API keys. */
const maxShown = 100;

/** The maximum duration of a preview, in milliseconds. */
const budgetMs = 2000;

interface PreviewOptions {
  readonly database: Database;
  readonly snapshots: Snapshots;
  readonly viewCaller: ViewCaller;
  readonly evaluator: AccessEvaluator;
  /** All permissions of this service. */
  readonly permissions: readonly string[];
  readonly clock?: () => number;
}

interface PreviewCall {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** The preview of an org, and whether the caller may see the API keys in it. */
interface SeenPreview extends OrgPreview {
  readonly gaining: readonly PreviewedMember[];
  readonly showsKeys: boolean;
}

export function createPreviewAccess({
  database,
  snapshots,
  viewCaller,
  evaluator,
  permissions,
  clock = () => performance.now(),
}: PreviewOptions): PreviewAccess {
  const preview = async (call: PreviewCall, written: readonly Written[]): Promise<AccessPreview> => {
    const endMs = clock() + budgetMs;
    const previews: SeenPreview[] = [];
    for (const [orgId, lines] of Map.groupBy(written, ({ org }) => org.id)) {
      previews.push(await previewOrg(call, orgId, lines, endMs));
    }
    const differences = firstDifferences(previews, maxShown);
    const gaining = previews.filter((each) => each.showsKeys).flatMap(({ gaining: members }) => members);
    const apiKeyPaths = await listApplicationKeys(database.reads, gaining, maxShown);
    return toAccessPreview(previews, { differences, apiKeyPaths });
  };

  const previewOrg = async (
    { caller, signal }: PreviewCall,
    orgId: string,
    lines: readonly Written[],
    endMs: number,
  ): Promise<SeenPreview> => {
    const { snapshot: own, check } = await viewCaller(caller);
    const { revision } = required(lines[0]).org;
    // The write holds the org's lock, so this is the head until it ends.
    const snapshot = await snapshots.at(orgId, { revision, readAt: performance.now() });
    const changes = lines.map(({ change: { type, id, before, after } }) =>
      toLogEntry({ resource_type: type, resource_id: id, before, after }),
    );
    const resolve = await createResolveResource(evaluator, snapshot, changes);
    const holds = (permission: string, resource: TargetScope): boolean =>
      allows(own, check, permission, resolve(resource));
    const isShown = (resource: TargetScope): boolean => seeing.every((permission) => holds(permission, resource));
    const org = resolveById(snapshot).resource;
    const { times, isWhole } = timesOf(changes, caller.time);
    const query = { changes, revision, times, permissions, isShown, limit: maxShown };
    const found = await previewInSteps(snapshot, query, { signal, clock, endMs });
    return {
      ...found,
      isWhole: found.isWhole && isWhole,
      gaining: found.gainingIds.map((memberId) => ({ orgId, memberId, memberPath: memberPathIn(snapshot, memberId) })),
      showsKeys: holds(seeingKeys, org),
      isTrimmed: !isShown(org),
      differences: found.differences.map((difference) => ({
        ...difference,
        orgId,
        memberPath: memberPathIn(snapshot, difference.memberId),
        resourcePath: resolve(difference.resource).path(),
      })),
    };
  };

  const readNow = async (orgId: string): Promise<void> => {
    await snapshots.at(orgId, { revision: "", readAt: performance.now() });
  };

  return async (caller, signal, write) => {
    signal.throwIfAborted();
    const call = { caller, signal };
    let missing: readonly string[] = [];
    const told = await write(async (written) => {
      const orgIds = [...new Set(written.map(({ org }) => org.id))];
      missing = orgIds.filter((orgId) => snapshots.held(orgId) === undefined);
      return missing.length > 0 ? undefined : preview(call, written);
    });
    if (told !== undefined) return told;
    for (const orgId of missing) await readNow(orgId);
    return required(await write((written) => preview(call, written)));
  };
}

/** The maximum number of times to evaluate. Few changes name as many, and each takes as long as the first. */
const maxTimes = 8;

interface Times {
  /** In milliseconds, ascending. */
  readonly times: readonly [number, ...number[]];
  /** Whether these are all times at which the changes may make a difference. */
  readonly isWhole: boolean;
}

/**
 * Returns the times at which the changes may make a difference: now, and when a binding or membership among them starts or
 * expires. A role binding that is postponed makes a difference now, and one that starts later makes a difference then.
 */
function timesOf(changes: readonly LogEntry[], now: number): Times {
  const later = new Set<number>();
  for (const { resource_type: type, before, after } of changes) {
    if (type !== "RoleBinding" && type !== "GroupMember") continue;
    for (const row of [before, after] as (Partial<RoleBindingRow & MembershipRow> | null)[]) {
      for (const time of [row?.start_time, row?.expire_time]) {
        const at = readTime(time ?? (null as Time), now);
        if (at > now) later.add(at);
      }
    }
  }
  const times = [...later].toSorted((one, other) => one - other);
  return { times: [now, ...times.slice(0, maxTimes - 1)], isWhole: times.length < maxTimes };
}
