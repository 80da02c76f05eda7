import type { AccessPreview } from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import type { Caller } from "../../identity/caller.ts";
import { required } from "../../resource/required.ts";
import type { Resource } from "../engine/resource.ts";
import { allows } from "../evaluation/allows.ts";
import type { AccessEvaluator } from "../evaluation/evaluator.ts";
import { questionOf } from "../evaluation/question.ts";
import { resolveById } from "../evaluation/resolve-in-snapshot.ts";
import { createLane } from "../lane.ts";
import type { PreviewAccess, Written } from "../preview.ts";
import { memberPathIn } from "../snapshots/snapshot-paths.ts";
import type { Snapshots } from "../snapshots/snapshots.ts";
import { toSnapshotChange } from "../snapshots/to-snapshot-change.ts";
import { previewInSteps } from "./preview-in-steps.ts";
import { timesOf } from "./preview-times.ts";
import { createResolveResource } from "./resolve-resources.ts";
import { type OrgPreview, toAccessPreview } from "./to-access-preview.ts";

/** Who holds both may see who may do what on a resource. */
const seeing = ["iam.access.explain", "iam.access.list"];

/** How many changes of access are shown. */
const maxShown = 100;

/** How many previews are under way; each holds a connection for writes and the locks of its orgs. */
const maxPreviews = 2;

/** How long a preview may take. */
const budgetMs = 2000;

interface PreviewOptions {
  readonly snapshots: Snapshots;
  readonly evaluator: AccessEvaluator;
  /** All that methods ask for. */
  readonly permissions: readonly string[];
  readonly clock?: () => number;
}

/** A call that sends a change to be previewed. */
interface PreviewCall {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** Reading a whole org takes too long for a lock: the write is run again when it is held. */
class SnapshotMissing extends Error {
  override readonly name = "SnapshotMissing";
  readonly orgIds: readonly string[];

  constructor(orgIds: readonly string[]) {
    super("the orgs of the preview are not in memory");
    this.orgIds = orgIds;
  }
}

export function createPreviewAccess({
  snapshots,
  evaluator,
  permissions,
  clock = () => performance.now(),
}: PreviewOptions): PreviewAccess {
  const inLane = createLane(maxPreviews);

  const preview = async (call: PreviewCall, written: readonly Written[]): Promise<AccessPreview> => {
    const endMs = clock() + budgetMs;
    const previews: OrgPreview[] = [];
    for (const [orgId, lines] of Map.groupBy(written, ({ org }) => org.id)) {
      previews.push(await previewOrg(call, orgId, lines, endMs));
    }
    return toAccessPreview(previews, maxShown);
  };

  const previewOrg = async (
    { caller, signal }: PreviewCall,
    orgId: string,
    lines: readonly Written[],
    endMs: number,
  ): Promise<OrgPreview> => {
    const own = await snapshots.at(caller.orgId, caller.orgRevision);
    const { revision } = required(lines[0]).org;
    const snapshot = await snapshots.at(orgId, revision);
    const changes = lines.map(({ change: { type, id, before, after } }) =>
      toSnapshotChange({ resource_type: type, resource_id: id, before, after }),
    );
    const resolve = await createResolveResource(evaluator, snapshot, changes);
    const isShown = (resource: Resource): boolean =>
      seeing.every((permission) => allows(own, questionOf(caller), permission, resolve(resource)));
    const { times, isWhole } = timesOf(changes, caller.time);
    const question = { changes, revision, times, permissions, isShown, limit: maxShown };
    const found = await previewInSteps(snapshot, question, { signal, clock, endMs });
    return {
      ...found,
      isWhole: found.isWhole && isWhole,
      isTrimmed: !isShown(resolveById(snapshot).resource),
      differences: found.differences.map((difference) => ({
        ...difference,
        memberPath: memberPathIn(snapshot, difference.memberId),
        resourcePath: resolve(difference.resource).path(),
      })),
    };
  };

  const requireHeld = (written: readonly Written[]): void => {
    const orgIds = [...new Set(written.map(({ org }) => org.id))];
    const missing = orgIds.filter((orgId) => snapshots.held(orgId) === undefined);
    if (missing.length > 0) throw new SnapshotMissing(missing);
  };

  return (caller, signal, write) =>
    inLane(async () => {
      signal.throwIfAborted();
      const call = { caller, signal };
      try {
        return await write(async (written) => {
          requireHeld(written);
          return preview(call, written);
        });
      } catch (error) {
        if (!(error instanceof SnapshotMissing)) throw error;
        for (const orgId of error.orgIds) await snapshots.at(orgId, "0");
        return await write((written) => preview(call, written));
      }
    });
}
