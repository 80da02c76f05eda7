import { inTransaction } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import { createSecretHandle } from "../../identity/secret-handle.ts";
import type { RegisteredClient } from "../clients/registered-client.ts";
import type { SignedInMember } from "../sign-in/browser-sessions.ts";
import { readClock, secondsAfter } from "../../database/clock.ts";

export interface CodeGrant {
  readonly client: RegisteredClient;
  /** The member as whom the browser is signed in, with which the code ends. */
  readonly member: Pick<SignedInMember, "customerId" | "orgId" | "memberId" | "sessionId" | "gen">;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  /** Null for all. */
  readonly scopes: readonly string[] | null;
  readonly isOffline: boolean;
}

const lifeSeconds = 60;

/** Creates a code with which the client gets tokens once, within a minute. */
export function issueCode(database: Database, grant: CodeGrant): Promise<string> {
  const { client, member, redirectUri, codeChallenge, scopes, isOffline } = grant;
  const { id, text, hash } = createSecretHandle(member.customerId);
  return inTransaction(database, async (db) => {
    const now = await readClock(db);
    await db
      .insertInto("authorization_codes")
      .values({
        id,
        hash,
        customer_id: member.customerId,
        org_id: member.orgId,
        member_id: member.memberId,
        token_gen: member.gen,
        client_org_id: client.org_id,
        oauth_client_id: client.id,
        redirect_uri: redirectUri,
        code_challenge: codeChallenge,
        scopes: scopes === null ? null : [...scopes],
        is_offline: isOffline,
        session_id: null,
        use_time: null,
        allowing_session_id: member.sessionId,
        expire_time: secondsAfter(now, lifeSeconds),
      })
      .execute();
    return text;
  });
}
