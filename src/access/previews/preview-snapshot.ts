// Previews changes on a snapshot, and shows of the effect what the caller may see.
import type { AccessPreview } from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import type { Database } from "../../database/database.ts";
import type { Caller } from "../../identity/caller.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import type { LogEntry } from "../engine/loading/apply-entry.ts";
import { type MembershipRow, type RoleBindingRow, type Time, readTime } from "../engine/loading/rows.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { allows } from "../evaluation/allows.ts";
import type { ViewCaller } from "../evaluation/caller-view.ts";
import type { AccessEvaluator } from "../evaluation/evaluator.ts";
import { resolveById } from "../evaluation/resolve-in-snapshot.ts";
import { memberPathIn } from "../snapshots/snapshot-paths.ts";
import { type PreviewedMember, listApplicationKeys } from "./application-keys.ts";
import { previewInSteps } from "./preview-in-steps.ts";
import { createResolveResource } from "./resolve-resources.ts";
import { type OrgPreview, firstDifferences, toAccessPreview } from "./to-access-preview.ts";

/** The permissions that together allow to see who may do what on a resource. */
const seeing = ["iam.access.explain", "iam.access.list"];

const seeingKeys = "iam.apiKeys.list";

/** The maximum duration of a preview, in milliseconds. */
export const budgetMs = 2000;

/** The maximum number of access changes in a preview, and of API keys. */
const maxShown = 100;

interface SnapshotPreviewOptions {
  readonly viewCaller: ViewCaller;
  readonly evaluator: AccessEvaluator;
  /** All permissions of this service. */
  readonly permissions: readonly string[];
}

export interface PreviewCall {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

interface PreviewedChanges {
  /** That of the snapshot. */
  readonly revision: string;
  readonly changes: readonly LogEntry[];
  /** When the preview ends, by the clock of the process. */
  readonly endMs: number;
}

/** The preview of an org, and whether the caller may see the API keys in it. */
export interface SeenPreview extends OrgPreview {
  readonly gaining: readonly PreviewedMember[];
  readonly showsKeys: boolean;
}

/** Previews changes that follow the revision of a snapshot. It must stay at it. */
export type PreviewSnapshot = (
  call: PreviewCall,
  snapshot: OrgSnapshot,
  changes: PreviewedChanges,
) => Promise<SeenPreview>;

export function createPreviewSnapshot({ viewCaller, evaluator, permissions }: SnapshotPreviewOptions): PreviewSnapshot {
  return async ({ caller, signal }, snapshot, { revision, changes, endMs }) => {
    const { snapshot: own, check } = await viewCaller(caller);
    const resolve = await createResolveResource(evaluator, snapshot, changes);
    const holds = (permission: string, resource: TargetScope): boolean =>
      allows(own, check, permission, resolve(resource));
    const isShown = (resource: TargetScope): boolean => seeing.every((permission) => holds(permission, resource));
    const { resource: org } = resolveById(snapshot);
    const orgId = snapshot.org.id;
    const { times, isWhole } = timesOf(changes, caller.time);
    const query = { changes, revision, times, permissions, isShown, limit: maxShown };
    const found = await previewInSteps(snapshot, query, { signal, clock: () => performance.now(), endMs });
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
}

/** Returns the previews of orgs as one. */
export async function describePreviews(database: Database, previews: readonly SeenPreview[]): Promise<AccessPreview> {
  const differences = firstDifferences(previews, maxShown);
  const gaining = previews.filter((each) => each.showsKeys).flatMap(({ gaining: members }) => members);
  const apiKeyPaths = await listApplicationKeys(database.reads, gaining, maxShown);
  return toAccessPreview(previews, { differences, apiKeyPaths });
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
