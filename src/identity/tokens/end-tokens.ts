import { sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { EndedTokens } from "../../database/token-tables.ts";

/**
 * Ends the tokens of API keys or sessions, or single tokens, for snapshots that are read later. The change log has an entry for
 * each, for those that are in memory.
 *
 * @returns whether any of them had not ended yet.
 */
export async function endTokens(
  { db, org, time }: OrgTransaction,
  type: EndedTokens["type"],
  ids: readonly string[],
): Promise<boolean> {
  if (ids.length === 0) return false;
  const inserted = await db
    .insertInto("ended_tokens")
    .values(ids.map((id) => ({ customer_id: org.customer_id, org_id: org.id, id, type, end_time: time })))
    .onConflict((conflict) =>
      conflict
        .constraint("ended_tokens_pkey")
        .doUpdateSet({ type, end_time: sql<Date>`excluded.end_time` })
        .where("ended_tokens.type", "=", "Rotation"),
    )
    .returning("id")
    .execute();
  return inserted.length > 0;
}

/** Lets the tokens of API keys or sessions end at a time to come, unless they have ended or end before. */
export async function endTokensLater({ db, org }: OrgTransaction, ids: readonly string[], time: Date): Promise<void> {
  if (ids.length === 0) return;
  await db
    .insertInto("ended_tokens")
    .values(ids.map((id) => ({ customer_id: org.customer_id, org_id: org.id, id, type: "Rotation", end_time: time })))
    .onConflict((conflict) =>
      conflict
        .constraint("ended_tokens_pkey")
        .doUpdateSet({ end_time: time })
        .where("ended_tokens.type", "=", "Rotation")
        .where("ended_tokens.end_time", ">", time),
    )
    .execute();
}
