import { create } from "@bufbuild/protobuf";
import { type QuotaBalance, QuotaBalanceSchema } from "../../gen/iam/v1alpha/quota_pb.ts";
import type { Holds } from "../access/evaluation/author-holds.ts";
import { required } from "../errors/required.ts";
import { singletonPath } from "../paths/patterns.ts";
import { type Amounts, preview } from "./ledger.ts";
import type { LedgerPlace } from "./levels.ts";
import { findLevels } from "./read-level.ts";
import { readableKinds } from "./readable-levels.ts";
import type { WriteTransaction } from "../database/write-transaction.ts";

/**
 * Returns what reserving amounts for a resource leaves in the quotas of all levels, whether or not it fits: of those quotas that
 * the caller may get.
 */
export async function readBalances(
  db: WriteTransaction,
  holds: Holds,
  place: LedgerPlace,
  resourceId: string,
  wanted: Amounts,
): Promise<QuotaBalance[]> {
  const balances = await preview({ db }, place, resourceId, wanted);
  const levels = await findLevels(db, place, new Set(balances.map(({ level }) => level)));
  const readable = await readableKinds(holds, levels.values());
  const shown = balances.filter(({ level }) => readable.has(level));
  return shown.map(({ level, kind, limit, used, reserved, left }) =>
    create(QuotaBalanceSchema, {
      quotaPath: singletonPath("Quota", required(levels.get(level)).path),
      kind,
      used: Number(used),
      reserved: Number(reserved),
      ...(limit !== null && { limit: Number(limit) }),
      ...(left !== null && { left: Number(left) }),
    }),
  );
}
