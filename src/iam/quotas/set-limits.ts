import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { singletonPath } from "../../paths/patterns.ts";
import type { NewLimit } from "./may-raise.ts";
import type { LevelRow } from "../../quotas/levels.ts";
import { limitsOf } from "./message.ts";
import { findLevelById } from "../../quotas/read-level.ts";
import { writeLimits } from "./store.ts";

/**
 * Sets limits of a quota, under the lock that `updateQuota` takes, and records the change. Returns the level after that.
 *
 * @param changed the limits that differ; none if the quota stays as it is.
 */
export async function setLimits(
  { db, record }: OrgTransaction,
  before: LevelRow,
  changed: readonly NewLimit[],
): Promise<LevelRow> {
  if (changed.length === 0) return before;
  await writeLimits(db, before, changed);
  const after = await findLevelById(db, before);
  record({
    type: "Quota",
    id: after.id,
    path: singletonPath("Quota", after.path),
    containerId: after.id,
    before: { limits: limitsOf(before) },
    after: { limits: limitsOf(after) },
  });
  return after;
}
