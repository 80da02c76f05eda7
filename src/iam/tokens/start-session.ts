import { v7 as uuidv7 } from "uuid";
import type { Author } from "../../changes/author.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { insertRows } from "../../standard-methods/rows/insert-rows.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { sessionDefinition } from "../sessions/definition.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { readSurplusSessions } from "../sessions/store.ts";
import type { TokenDependencies } from "./dependencies.ts";
import { createReadNarrowing } from "./read-narrowing.ts";
import type { IssuedTokens, TokenRequest } from "./issue-token.ts";

/**
 * Starts a session with the API key of a call, and issues its first tokens. Ends the oldest sessions of the member if it has
 * too many.
 *
 * @throws ServiceError PERMISSION_DENIED for a call with a token or a limited API key.
 */
export type StartSession = (caller: Caller, request: TokenRequest, author: Author) => Promise<IssuedTokens>;

/** The maximum number of sessions of a member. */
const maxSessions = 100;

const dayMs = 86_400_000;

export function createStartSession(dependencies: TokenDependencies): StartSession {
  const { database, registry, accessTokens, refreshTokens, sessionDays, tokenLifeSeconds } = dependencies;
  const readNarrowing = createReadNarrowing(dependencies);
  return async (caller, request, author) => {
    const { lifeSeconds = tokenLifeSeconds } = request;
    if (caller.token !== undefined || caller.grantsUntil !== null) throw needsKey();
    const { memberId, orgId, clientId, credentialId, allowedAddresses } = caller;
    const narrowing = await readNarrowing(caller, request);
    const sessionId = uuidv7();
    const { gen, now, expireTime } = await inTransaction(database, (db) =>
      writeInOrg(
        db,
        { by: "id", value: orgId },
        author,
        async (transaction) => {
          const { org, revision, time } = transaction;
          const surplus = await readSurplusSessions(db, orgId, memberId, maxSessions - 1);
          await endSessions(transaction, registry, surplus);
          // A rotation can have given the key an earlier end since the call was authenticated.
          const key = await db
            .selectFrom("api_keys")
            .innerJoin("members", (join) =>
              join.onRef("members.org_id", "=", "api_keys.org_id").onRef("members.id", "=", "api_keys.member_id"),
            )
            .select(["api_keys.expire_time", "members.token_gen"])
            .where("api_keys.org_id", "=", orgId)
            .where("api_keys.member_id", "=", memberId)
            .where("api_keys.id", "=", credentialId)
            .executeTakeFirst();
          const { expire_time: keyEnd, token_gen: tokenGen } = required(key);
          const startTime = org.lockTime.getTime();
          const end = Math.min(startTime + sessionDays * dayMs, keyEnd?.getTime() ?? Infinity);
          const columns = {
            member_id: memberId,
            id: sessionId,
            client_id: clientId,
            api_key_id: credentialId,
            token_gen: tokenGen,
            scopes: narrowing.scopes === undefined ? null : [...narrowing.scopes],
            project_id: narrowing.projectId ?? null,
            allowed_addresses: allowedAddresses === undefined ? null : [...allowedAddresses],
            user_agent: author.origin.userAgent ?? "",
            refresh_time: null,
            expire_time: new Date(end),
          };
          const { rows } = await insertRows({ db, orgId, revision, time }, sessionDefinition, [{ columns }]);
          const [row] = await readByKeys(db, sessionDefinition, rows);
          recordChange(transaction, sessionDefinition, null, required(row));
          return { gen: columns.token_gen, now: startTime, expireTime: end };
        },
        "any",
      ),
    );
    const limits = { credentialExpireTime: expireTime, allowedAddresses, ...narrowing };
    const grant = { memberId, orgId, sessionId, clientId, gen, impersonator: undefined, ...limits };
    const issued = await accessTokens.issue(grant, now, lifeSeconds);
    return { ...issued, refreshToken: refreshTokens.format({ sessionId, number: 0n }) };
  };
}

function needsKey(): ServiceError {
  const message = "a session is started with an API key that is not limited";
  return new ServiceError("PERMISSION_DENIED", message);
}
