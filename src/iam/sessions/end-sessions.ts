import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { endTokens, endTokensLater } from "../../identity/tokens/end-tokens.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { removeRows } from "../../standard-methods/rows/remove-rows.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { sessionDefinition } from "./definition.ts";
import type { SessionRow } from "./store.ts";

/** Ends sessions, with their tokens, under the lock of their org. */
export async function endSessions(
  transaction: OrgTransaction,
  registry: ResourceRegistry,
  rows: readonly SessionRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await endTokens(transaction, "Session", ids);
  await removeRows(transaction.db, registry, sessionDefinition, transaction.org, rows);
  for (const row of rows) recordChange(transaction, sessionDefinition, row, null);
}

/** Lets sessions, with their tokens, end at a time to come, unless they end before. */
export async function endSessionsLater(
  transaction: OrgTransaction,
  rows: readonly SessionRow[],
  time: Date,
): Promise<void> {
  const { db, org, revision } = transaction;
  const target = { db, org, revision, time: transaction.time };
  const later = rows.filter((row) => row.expire_time > time);
  await endTokensLater(
    transaction,
    later.map(({ id }) => id),
    time,
  );
  for (const row of later) {
    const updated = await updateRow(target, sessionDefinition, row, { columns: { expire_time: time } });
    recordChange(transaction, sessionDefinition, row, { ...row, ...updated });
  }
}
