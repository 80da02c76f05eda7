import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import { memberPathIn } from "../../access/snapshots/snapshot-paths.ts";
import type { Author } from "../../changes/author.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { AccessToken } from "../../identity/tokens/access-token.ts";
import { endTokens } from "../../identity/tokens/end-tokens.ts";
import { isRefreshTokenLike } from "../../identity/tokens/refresh-token.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { sessionDefinition } from "../sessions/definition.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { isSessionOf } from "../sessions/refresh-store.ts";
import { selectSessions } from "../sessions/store.ts";
import type { TokenDependencies } from "./dependencies.ts";

/** The member that a token stands for, and its session or API key. */
export type TokenHolder = Pick<AccessToken, "memberId" | "orgId" | "sessionId"> &
  Partial<Pick<AccessToken, "impersonator">>;

/**
 * Revokes an access token, or a refresh token with its session. Any holder of a token may revoke it. Does nothing for a text that is
 * no token, or for a token that has ended.
 *
 * @param authorOf returns the author of the change.
 */
export type RevokeToken = (text: string, authorOf: (holder: TokenHolder) => Author, dryRun: boolean) => Promise<void>;

export function createRevokeToken(dependencies: TokenDependencies): RevokeToken {
  const { database, readTokenState } = dependencies;
  const endSessionOf = createEndSessionOf(dependencies);
  return async (text, authorOf, dryRun) => {
    if (isRefreshTokenLike(text)) {
      await endSessionOf(text, authorOf, dryRun);
      return;
    }
    const state = await readTokenState(text);
    if (state?.snapshot === undefined || state.end !== undefined || dryRun) return;
    const { token, snapshot } = state;
    await inTransaction(database, (db) =>
      writeInOrg(db, { org: { by: "id", value: token.orgId }, state: "any" }, authorOf(token), async (transaction) => {
        const isNew = await endTokens(transaction, "Token", [token.id]);
        if (isNew) transaction.record(changeOf(snapshot, token));
      }),
    );
  };
}

/** Creates the function that ends the session of a refresh token, also of one that was replaced. */
function createEndSessionOf({ database, registry, refreshTokens }: TokenDependencies): RevokeToken {
  return async (text, authorOf, dryRun) => {
    const token = refreshTokens.parse(text);
    const row = token && (await selectSessions(database.reads).where(isSessionOf(token)).executeTakeFirst());
    if (row === undefined || dryRun) return;
    const author = authorOf({ memberId: row.member_id, orgId: row.org_id, sessionId: row.id });
    await inTransaction(database, (db) =>
      writeInOrg(db, { org: { by: "id", value: row.org_id }, state: "any" }, author, async (transaction) => {
        const rows = await readByKeys(db, sessionDefinition, [row]);
        await endSessions(
          transaction,
          registry,
          rows.filter((each) => each !== undefined),
        );
      }),
    );
  };
}

function changeOf(snapshot: OrgSnapshot, { id, memberId, sessionId, expireTime }: AccessToken) {
  const before = { member_id: memberId, session_id: sessionId, expire_time: new Date(expireTime) };
  const path = `${memberPathIn(snapshot, memberId)}/tokens/@${id}`;
  return { type: "Token", id, path, containerId: memberId, before, after: null } as const;
}
