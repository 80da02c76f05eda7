import { isInOrgOf } from "../../database/org-key.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Sessions } from "../../database/token-tables.ts";
import { required } from "../../errors/required.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { insertRows } from "../../standard-methods/rows/insert-rows.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { sessionDefinition } from "./definition.ts";
import { endSessions } from "./end-sessions.ts";
import { readSurplusSessions } from "./store.ts";

type NewSession = Pick<
  Sessions,
  | "member_id"
  | "id"
  | "client_id"
  | "api_key_id"
  | "browser_session_id"
  | "oauth_client_id"
  | "client_org_id"
  | "identity_id"
  | "scopes"
  | "project_id"
  | "allowed_addresses"
  | "expire_time"
> &
  Partial<Pick<Sessions, "redirect_uri">>;

/** The maximum number of sessions of a member that one API key or client has, or all browsers together. */
const maxSessions = 100;

/**
 * Starts a session under the lock of its org. Ends the oldest sessions of the member if its key or client has too many.
 *
 * @returns the `token_gen` of the member, for tokens of the session.
 */
export async function insertSession(
  transaction: OrgTransaction,
  registry: ResourceRegistry,
  session: NewSession,
): Promise<string | null> {
  const { db, org, author, revision, time, newId } = transaction;
  const surplus = await readSurplusSessions(transaction, session.member_id, session, maxSessions - 1);
  await endSessions(transaction, registry, surplus);
  const member = await db
    .selectFrom("members")
    .select("token_gen")
    .where(isInOrgOf("members", org))
    .where("id", "=", session.member_id)
    .executeTakeFirst();
  const { token_gen } = required(member);
  const columns = {
    redirect_uri: null,
    ...session,
    token_gen,
    user_agent: author.origin.userAgent ?? "",
    refresh_time: null,
    refresh_origin: null,
  };
  const { rows } = await insertRows({ db, org, revision, time, newId }, sessionDefinition, [{ columns }]);
  const [row] = await readByKeys(db, sessionDefinition, rows);
  recordChange(transaction, sessionDefinition, null, required(row));
  return token_gen;
}
