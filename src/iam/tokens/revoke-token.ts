import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import { memberPathIn } from "../../access/snapshots/snapshot-paths.ts";
import type { Author } from "../../changes/author.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { AccessToken } from "../../identity/tokens/access-token.ts";
import { endTokens } from "../../identity/tokens/end-tokens.ts";
import type { TokenDependencies } from "./dependencies.ts";

/**
 * Revokes an access token. Whoever has a token may revoke it. Does nothing for a text that is no token, or for a token that has
 * ended.
 *
 * @param authorOf returns the author of the change.
 */
export type RevokeToken = (text: string, authorOf: (token: AccessToken) => Author, dryRun: boolean) => Promise<void>;

export function createRevokeToken({ database, readTokenState }: TokenDependencies): RevokeToken {
  return async (text, authorOf, dryRun) => {
    const state = await readTokenState(text);
    if (state?.snapshot === undefined || state.end !== undefined || dryRun) return;
    const { token, snapshot } = state;
    await inTransaction(database, (db) =>
      writeInOrg(
        db,
        { by: "id", value: token.orgId },
        authorOf(token),
        async (transaction) => {
          const isNew = await endTokens(transaction, "Token", [token.id]);
          if (isNew) transaction.record(changeOf(snapshot, token));
        },
        "any",
      ),
    );
  };
}

function changeOf(snapshot: OrgSnapshot, { id, memberId, sessionId, expireTime }: AccessToken) {
  const before = { member_id: memberId, session_id: sessionId, expire_time: new Date(expireTime) };
  return { type: "Token", id, path: `${memberPathIn(snapshot, memberId)}/tokens/@${id}`, before, after: null } as const;
}
