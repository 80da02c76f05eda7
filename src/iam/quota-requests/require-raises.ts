import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { mapEntry } from "../../errors/map-entry.ts";
import { type FieldViolation, invalidFields } from "../../errors/service-error.ts";
import { singletonPath } from "../../paths/patterns.ts";
import { maxViolations } from "../../validation/validate-message.ts";
import type { LevelRow } from "../../quotas/levels.ts";
import { permissionToGetQuotas } from "../../quotas/permission.ts";
import { mayGetQuota } from "../../quotas/readable-levels.ts";
import { requireKinds } from "../../quotas/require-kinds.ts";
import { type WantedLimits, wantedLimits } from "./wanted-limits.ts";
import { isRaised } from "../quotas/may-raise.ts";

const field = "quota_request.limits";

/**
 * Checks that a request asks for something: each of its limits is of a kind that exists, and above the present one. The error shows
 * the present one to an author who may get the quota.
 *
 * @throws ServiceError FIELD_INVALID that names each limit that is not.
 */
export async function requireRaises(
  authorHolds: AuthorHolds,
  transaction: OrgTransaction,
  level: LevelRow,
  limits: WantedLimits,
): Promise<void> {
  await requireKinds(transaction.db, Object.keys(limits), field);
  const notRaised = wantedLimits(level, limits).filter((limit) => !isRaised(limit));
  if (notRaised.length === 0) return;
  const isShown = await mayGetQuota(await authorHolds.now(transaction), level);
  const violations = notRaised.map(({ kind, before }): FieldViolation => ({
    field: mapEntry(field, kind),
    description: isShown ? describeLimit(level, before) : describeHidden(level),
    rule: "quota_request.raise",
  }));
  throw invalidFields(violations.slice(0, maxViolations));
}

function describeLimit(level: LevelRow, before: string | undefined): string {
  const path = singletonPath("Quota", level.path);
  return before === undefined
    ? `must be left out: ${path} has no limit for it, so there is nothing to ask for`
    : `must be above ${before}, the present limit of ${path}: below it, there is nothing to ask for`;
}

function describeHidden(level: LevelRow): string {
  const path = singletonPath("Quota", level.path);
  return `must be above the present limit of ${path}, or be left out if that has none; to see it requires ${permissionToGetQuotas}`;
}
