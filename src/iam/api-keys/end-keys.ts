import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { endTokens } from "../../identity/tokens/end-tokens.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { readSessionsOfKeys } from "../sessions/store.ts";

/** Ends the tokens and sessions of API keys that are removed, under the lock of their org. */
export async function endKeys(
  transaction: OrgTransaction,
  registry: ResourceRegistry,
  ids: readonly string[],
): Promise<void> {
  await endTokens(transaction, "ApiKey", ids);
  await endSessions(transaction, registry, await readSessionsOfKeys(transaction.db, transaction.org.id, ids));
}
