import { Big } from "big.js";
import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { permissionToUpdateQuotas } from "../../quotas/permission.ts";
import { type LevelRow, pathAbove } from "../../quotas/levels.ts";

/** A limit that an update changes: exact decimals, undefined for no limit. */
export interface NewLimit {
  readonly kind: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const maxNamed = 10;

/**
 * Checks that the author of an update may raise the limits that it raises or removes. Nobody raises a limit of their own: the
 * author must hold the permission to update quotas one level above. A caller who holds it on the level itself may lower limits, and
 * set a limit where there is none.
 *
 * @throws ServiceError PERMISSION_DENIED that names the limits.
 */
export async function requireMayRaise(
  authorHolds: AuthorHolds,
  transaction: OrgTransaction,
  level: LevelRow,
  changed: readonly NewLimit[],
): Promise<void> {
  const raised = changed.filter(isRaised);
  if (raised.length === 0 || (await mayRaise(authorHolds, transaction, level))) return;
  const where = pathAbove(level.above);
  throw new ServiceError("PERMISSION_DENIED", describeRaise(level.path, where, raised), {
    metadata: { permission: permissionToUpdateQuotas, resource: where },
  });
}

/** Says which limits of a level the caller may not raise, and what that requires on the level above. */
export function describeRaise(path: string, above: string, raised: readonly NewLimit[]): string {
  const named = raised
    .slice(0, maxNamed)
    .map(({ kind, before, after = "none" }) => `${kind} from ${before} to ${after}`);
  return `the caller may lower the limits of ${path} but not raise or remove them, which requires the permission ${permissionToUpdateQuotas} on ${above}: ${named.join(", ")}`;
}

export function mayRaise(
  authorHolds: AuthorHolds,
  { db, author }: OrgTransaction,
  { above }: LevelRow,
): Promise<boolean> {
  return authorHolds(db, author, permissionToUpdateQuotas, above);
}

export function isRaised({ before, after }: NewLimit): boolean {
  return before !== undefined && (after === undefined || new Big(after).gt(before));
}
