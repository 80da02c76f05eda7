// A person signs in with a browser, and is then signed in as the members that it has chosen. Each of them gets a session, which is a
// resource like those of other clients: it is listed, can be deleted, and ends with its member. The cookie of the browser only
// gets short-lived tokens of these sessions. What fails in the org of one member leaves the sessions of the others as they are.
import { sql } from "kysely";
import type { Author, Origin } from "../../changes/author.ts";
import { type OrgTransaction, inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { isActiveMember } from "../../identity/caller-lookup.ts";
import { createSecretHandle, parseSecretHandle } from "../../identity/secret-handle.ts";
import type { AccessTokens, IssuedToken } from "../../identity/tokens/access-token.ts";
import { formatPath, orgPathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { sessionDefinition } from "../sessions/definition.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { insertSession } from "../sessions/insert-session.ts";
import type { MemberKey, RedeemedMember, SignInMember } from "./sign-in-links.ts";
import {
  type BrowserSessionKey,
  type SignedInRow,
  browserLifeSeconds,
  deleteBrowserSession,
  readSignedIn,
} from "./store.ts";
import { readClock, secondsAfter } from "../../database/clock.ts";

export interface SignedInMember extends MemberKey {
  /** The customer of its org. */
  readonly customerId: string;
  /** `/customers/acme-inc` */
  readonly customerPath: string;
  /** The Session, which is the `sid` of its tokens. */
  readonly sessionId: string;
  /** The member's `token_gen`. */
  readonly gen: string | null;
  readonly expireTime: Date;
  /** `/orgs/acme/members/alice` */
  readonly path: string;
  readonly displayName: string;
  /** `/orgs/acme` */
  readonly orgPath: string;
  readonly orgDisplayName: string;
}

export interface BrowserSession {
  readonly signInTime: Date;
  readonly expireTime: Date;
  /** At least one. */
  readonly members: readonly SignedInMember[];
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

export interface BrowserSessions {
  /**
   * Signs a browser in as a member that has used a code up.
   *
   * @returns the value of the cookie.
   * @throws ServiceError GRANT_INVALID when the member is not active, or all its tokens have ended since.
   */
  start(member: RedeemedMember, origin: Origin): Promise<string>;
  /** Returns what a cookie stands for now; undefined if the browser is not signed in. */
  find(cookie: string): Promise<BrowserSession | undefined>;
  /** Signs the browser of a cookie out. Returns the sessions of its members, which are to be ended. */
  forget(cookie: string): Promise<BrowserSessionKey[]>;
  /**
   * Ends sessions of a browser, with their tokens, in all orgs at once.
   *
   * @throws the error of an org in which that failed, after all others have ended.
   */
  end(keys: readonly BrowserSessionKey[], origin: Origin): Promise<void>;
  issueToken(session: BrowserSession, member: SignedInMember): Promise<IssuedToken>;
}

export interface BrowserSessionDependencies {
  readonly database: Database;
  readonly registry: ResourceRegistry;
  readonly accessTokens: AccessTokens;
  readonly tokenLifeSeconds: number;
}

const clientId = "browser";

/** A page gets another token when it needs one. */
const maxTokenLifeSeconds = 600;

/** Starts the session of a member in a browser, under the lock of its org. */
export async function insertBrowserSession(
  transaction: OrgTransaction,
  registry: ResourceRegistry,
  browser: { readonly id: string; readonly expireTime: Date },
  { memberId, identityId }: SignInMember,
): Promise<void> {
  await insertSession(transaction, registry, {
    member_id: memberId,
    id: transaction.newId(),
    client_id: clientId,
    api_key_id: null,
    browser_session_id: browser.id,
    oauth_client_id: null,
    client_org_id: null,
    identity_id: identityId ?? null,
    scopes: null,
    project_id: null,
    allowed_addresses: null,
    expire_time: browser.expireTime,
  });
}

export function createBrowserSessions(dependencies: BrowserSessionDependencies): BrowserSessions {
  const { database, registry, accessTokens, tokenLifeSeconds } = dependencies;

  return {
    start: (member, origin) =>
      inTransaction(database, async (db) => {
        const now = await readClock(db);
        const { id, text, hash } = createSecretHandle();
        const { expire_time: expireTime } = await db
          .insertInto("browser_sessions")
          .values({
            id,
            hash,
            sign_in_time: now,
            expire_time: secondsAfter(now, browserLifeSeconds),
            choices: null,
          })
          .returning("expire_time")
          .executeTakeFirstOrThrow();
        const author = signInAuthor(member, "tenantry/sign-in", origin);
        const start = async (transaction: OrgTransaction): Promise<void> => {
          await requireActive(transaction, member);
          await insertBrowserSession(transaction, registry, { id, expireTime }, member);
        };
        await writeInOrg(db, { org: { by: "id", value: member.orgId }, state: "any" }, author, start);
        return text;
      }),

    async find(cookie) {
      const handle = parseSecretHandle(cookie);
      const rows = handle === undefined ? [] : await readSignedIn(database.reads, handle);
      const [first] = rows;
      if (first === undefined) return undefined;
      const { sign_in_time: signInTime, browser_expire_time: expireTime, now } = first;
      return { signInTime, expireTime, members: rows.map(toMember), now };
    },

    async forget(cookie) {
      const handle = parseSecretHandle(cookie);
      return handle === undefined ? [] : inTransaction(database, (db) => deleteBrowserSession(db, handle));
    },

    async end(keys, origin) {
      const ends = await Promise.allSettled(keys.map((key) => endSession(dependencies, key, origin)));
      const failed = ends.find((each) => each.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },

    issueToken({ now }, { memberId, orgId, sessionId, gen, expireTime }) {
      const unlimited = { scopes: undefined, projectId: undefined, allowedAddresses: undefined };
      const client = { clientId, clientOrgId: undefined };
      const alone = { impersonator: undefined, exchangedFrom: [] };
      const grant = { memberId, orgId, sessionId, ...client, gen, ...unlimited, ...alone };
      const lifeSeconds = Math.min(tokenLifeSeconds, maxTokenLifeSeconds);
      // A person may make API keys that outlive the sign-in; the token itself does not.
      return accessTokens.issue({ ...grant, credentialExpireTime: null }, now, lifeSeconds, expireTime.getTime());
    },
  };
}

function toMember(row: SignedInRow): SignedInMember {
  return {
    customerId: row.customer_id,
    customerPath: formatPath(patterns.Customer, row.customer_name),
    orgId: row.org_id,
    memberId: row.member_id,
    sessionId: row.session_id,
    gen: row.token_gen,
    expireTime: row.session_expire_time,
    path: formatPath(patterns.Member, orgPathName(row), row.member_name),
    displayName: row.member_display_name,
    orgPath: formatPath(patterns.Org, orgPathName(row)),
    orgDisplayName: row.org_display_name,
  };
}

function endSession(
  { database, registry }: Pick<BrowserSessionDependencies, "database" | "registry">,
  key: BrowserSessionKey,
  origin: Origin,
): Promise<void> {
  const author = signInAuthor({ orgId: key.org_id, memberId: key.member_id }, "tenantry/sign-out", origin);
  const end = async (transaction: OrgTransaction): Promise<void> => {
    const rows = await readByKeys(transaction.db, sessionDefinition, [key]);
    await endSessions(
      transaction,
      registry,
      rows.filter((row) => row !== undefined),
    );
  };
  return inTransaction(database, (db) =>
    writeInOrg(db, { org: { by: "id", value: key.org_id }, state: "any" }, author, end),
  );
}

/** @throws ServiceError GRANT_INVALID */
async function requireActive({ db, org }: OrgTransaction, { memberId, gen }: RedeemedMember): Promise<void> {
  const { rows } = await sql`
    select from members join orgs on orgs.customer_id = members.customer_id and orgs.id = members.org_id
    where ${isInOrgOf("members", org)} and members.id = ${memberId} and ${isActiveMember}
      and members.token_gen is not distinct from ${gen}::uuid`.execute(db);
  if (rows.length > 0) return;
  const message =
    "nobody can be signed in: the member is not active, was deleted, or all its tokens were ended meanwhile";
  throw new ServiceError("GRANT_INVALID", message);
}

/** The member itself signs in and out, and ends what can act as it. What signs it in was checked before. */
export function signInAuthor({ orgId, memberId }: MemberKey, method: string, origin: Origin): Author {
  const unlimited = { credentialExpireTime: null, grantsUntil: null };
  return {
    actorId: memberId,
    actorOrgId: orgId,
    ...unlimited,
    method,
    origin,
    confirm: () => Promise.resolve(undefined),
  };
}
