import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { mapEntry } from "../../errors/map-entry.ts";
import { type FieldViolation, invalidFields } from "../../errors/service-error.ts";
import { singletonPath } from "../../paths/patterns.ts";
import { maxViolations } from "../../standard-methods/write/validate-message.ts";
import type { LevelRow } from "../quotas/levels.ts";
import { requireKinds } from "../quotas/require-kinds.ts";
import { type WantedLimits, wantedLimits } from "./wanted-limits.ts";
import { isRaised } from "../quotas/may-raise.ts";

const field = "quota_request.limits";

/**
 * Checks that a request asks for something: each of its limits is of a kind that exists, and above the present one.
 *
 * @throws ServiceError FIELD_INVALID that names each limit that is not.
 */
export async function requireRaises({ db }: OrgTransaction, level: LevelRow, limits: WantedLimits): Promise<void> {
  await requireKinds(db, Object.keys(limits), field);
  const path = singletonPath("Quota", level.path);
  const violations = wantedLimits(level, limits)
    .filter((limit) => !isRaised(limit))
    .map(({ kind, before }): FieldViolation => ({
      field: mapEntry(field, kind),
      description:
        before === undefined
          ? `must be left out: ${path} has no limit for it, so there is nothing to ask for`
          : `must be above ${before}, the present limit of ${path}: below it, there is nothing to ask for`,
      rule: "quota_request.raise",
    }));
  if (violations.length > 0) throw invalidFields(violations.slice(0, maxViolations));
}
