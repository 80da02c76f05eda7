// Limits of a file whose kinds there are not: UpdateQuota refuses them.
import type { Database } from "../database/database.ts";
import { type FieldViolation, invalidFields } from "../errors/service-error.ts";
import { findKinds } from "../quotas/kinds.ts";
import { unknownKind } from "../quotas/require-kinds.ts";
import { maxViolations } from "../validation/validate-message.ts";
import { limitOf } from "./limits.ts";
import type { OrgFile } from "./read-file.ts";

/**
 * Checks the kinds of limits, so that no plan shows what its apply refuses.
 *
 * @throws ServiceError FIELD_INVALID with the places of the file.
 */
export async function requireKnownKinds(
  { reads }: Pick<Database, "reads">,
  { resources }: Pick<OrgFile, "resources">,
): Promise<void> {
  const limits = resources.flatMap((each) => {
    const limit = limitOf(each);
    return limit === undefined ? [] : [{ kind: limit.kind, place: each.place }];
  });
  const known = await findKinds(reads, [...new Set(limits.map(({ kind }) => kind))]);
  const violations = limits
    .filter(({ kind }) => !known.has(kind))
    .map(({ place }): FieldViolation => ({ field: place, description: unknownKind }));
  if (violations.length > 0) throw invalidFields(violations.slice(0, maxViolations));
}
