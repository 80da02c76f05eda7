// An org as it would be after changes that are planned and not made, also of what these create: who would gain and lose what, and what
// somebody could do then.
import type { AccessPreview } from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import type { Database } from "../../database/database.ts";
import type { Caller } from "../../identity/caller.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import { applyEntry } from "../engine/loading/apply-entry.ts";
import { loadRows } from "../engine/loading/load-rows.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { Snapshots } from "../snapshots/current-snapshots.ts";
import { type BrokenExpectation, type Expectation, findBroken } from "./find-broken.ts";
import type { PlannedChanges } from "./planned-changes.ts";
import { type PreviewSnapshot, budgetMs, describePreviews } from "./preview-snapshot.ts";

interface PlannedCall {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly slices: CallSlices;
}

/** The answers are about the moment of the call. */
interface PlannedOrg {
  readonly preview: () => Promise<AccessPreview>;
  /** Returns which expectations do not hold after the changes. Must be called last. */
  readonly findBroken: (expectations: readonly Expectation[]) => Promise<readonly BrokenExpectation[]>;
}

/**
 * Calls a function with an org as it would be.
 *
 * @returns undefined if the org has another revision now.
 * @throws ServiceError RATE_LIMITED when there is no memory for it.
 */
export type OpenPlannedOrg = <Result>(
  call: PlannedCall,
  planned: PlannedChanges,
  use: (org: PlannedOrg) => Promise<Result>,
) => Promise<Result | undefined>;

interface Dependencies {
  readonly database: Database;
  readonly snapshots: Pick<Snapshots, "readOwn" | "release">;
  readonly previewSnapshot: PreviewSnapshot;
}

export function createOpenPlannedOrg({ database, snapshots, previewSnapshot }: Dependencies): OpenPlannedOrg {
  return async (call, planned, use) => {
    // Nobody else advances it, so it needs no lock and stays at its revision.
    const snapshot = await snapshots.readOwn(planned.orgId);
    if (snapshot === undefined) return undefined;
    try {
      if (snapshot.revision !== planned.revision) return undefined;
      for (const entry of planned.base ?? []) applyEntry(snapshot, entry);
      loadRows(snapshot, planned.created);
      snapshot.advanceTo(planned.revision);
      return await use(open(call, snapshot, planned));
    } finally {
      snapshots.release(snapshot);
    }
  };

  function open(call: PlannedCall, snapshot: OrgSnapshot, { revision, steps }: PlannedChanges): PlannedOrg {
    return {
      async preview() {
        const changes = steps.flatMap(({ entries }) => entries);
        const endMs = performance.now() + budgetMs;
        return describePreviews(database, [await previewSnapshot(call, snapshot, { revision, changes, endMs })]);
      },
      findBroken: (expectations) =>
        call.slices.run(findBroken(snapshot, { revision, steps }, expectations, call.caller.time)),
    };
  }
}
