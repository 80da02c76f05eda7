// A person who signed in at an identity provider chooses as which member. The browser keeps the identities from which it may choose,
// each with the `token_gen` that its member had at the sign-in: so a choice ends with what ends the tokens of its member, and each is
// made once. Before it, nothing is written in the org of a member, nobody there is told of the person, and no org's lock is taken. An
// identity that waits for its person is accepted by being chosen, in the transaction that starts the session.
import type { Origin } from "../../changes/author.ts";
import { type OrgTransaction, inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { createSecretHandle, parseSecretHandle } from "../../identity/secret-handle.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { identityDefinition } from "../identities/definition.ts";
import { formerMemberPath } from "../members/message.ts";
import { insertBrowserSession, signInAuthor } from "./browser-sessions.ts";
import { type ChoiceRow, declineIdentity, readChoices, useChoice } from "./choice-store.ts";
import type { LinkedIdentity } from "./provider-store.ts";
import type { MemberKey } from "./sign-in-links.ts";
import { browserLifeSeconds } from "./store.ts";
import { readClock, secondsAfter } from "../../database/clock.ts";

/** A member as whom a person can be signed in. */
export interface SignInChoice {
  readonly id: string;
  readonly orgId: string;
  /** `/orgs/acme/members/alice` */
  readonly path: string;
  readonly displayName: string;
  readonly orgDisplayName: string;
  readonly providerName: string;
  /** Whether the person has accepted the identity, and if not, whether it has declined it. */
  readonly state: "ACCEPTED" | "WAITING" | "DECLINED";
  /** Who created the identity; undefined for a member that no longer exists. */
  readonly creator: { readonly path: string; readonly displayName: string } | undefined;
}

export interface SignInChoices {
  /**
   * Lets a browser choose among identities. It is signed in as nobody yet.
   *
   * @returns the value of the cookie.
   * @throws ServiceError GRANT_INVALID when none can be chosen.
   */
  offer(identities: readonly LinkedIdentity[]): Promise<string>;
  /** Returns what the browser of a cookie may still choose, what is accepted first. */
  find(cookie: string): Promise<SignInChoice[]>;
  /**
   * Signs a browser in as the member of an identity.
   *
   * @param accepts whether the person accepts the identity with it.
   * @returns the member.
   * @throws ServiceError GRANT_INVALID when the browser may not choose it, or no longer.
   */
  choose(cookie: string, identityId: string, accepts: boolean, origin: Origin): Promise<MemberKey>;
  /** Remembers that a person declines an identity, unless it has accepted it. */
  decline(cookie: string, identityId: string): Promise<void>;
}

interface ChoiceDependencies {
  readonly database: Database;
  readonly registry: ResourceRegistry;
}

export function createSignInChoices({ database, registry }: ChoiceDependencies): SignInChoices {
  const find = async (cookie: string, identityId: string): Promise<ChoiceRow | undefined> => {
    const handle = parseSecretHandle(cookie);
    return handle && (await readChoices(database.reads, handle, identityId))[0];
  };

  return {
    async offer(identities) {
      const usable = identities.filter((identity) => identity.usable);
      if (usable.length === 0) {
        throw new ServiceError("GRANT_INVALID", "nobody can be signed in: the member is not active, or was deleted");
      }
      const { id, text, hash } = createSecretHandle();
      const choices = JSON.stringify(Object.fromEntries(usable.map(({ identityId, gen }) => [identityId, gen ?? ""])));
      await inTransaction(database, async (db) => {
        const now = await readClock(db);
        const expireTime = secondsAfter(now, browserLifeSeconds);
        await db
          .insertInto("browser_sessions")
          .values({ id, hash, sign_in_time: now, expire_time: expireTime, choices })
          .execute();
      });
      return text;
    },

    async find(cookie) {
      const handle = parseSecretHandle(cookie);
      const rows = handle === undefined ? [] : await readChoices(database.reads, handle);
      return rows.map(toChoice);
    },

    async choose(cookie, identityId, accepts, origin) {
      const handle = parseSecretHandle(cookie);
      const choice = await find(cookie, identityId);
      if (handle === undefined || choice === undefined) throw notPossible();
      const member = { orgId: choice.org_id, memberId: choice.member_id };
      await inTransaction(database, (db) =>
        writeInOrg(
          db,
          { org: { by: "id", value: member.orgId }, state: "any" },
          signInAuthor(member, "tenantry/sign-in", origin),
          async (transaction) => {
            const [locked] = await readChoices(db, handle, identityId);
            if (locked === undefined || !(locked.accepted || accepts)) throw notPossible();
            if (!locked.accepted) await accept(transaction, locked);
            const browser = { id: handle.id, expireTime: locked.browser_expire_time };
            await insertBrowserSession(transaction, registry, browser, { ...member, identityId });
            // Last, so that the choice of another member does not wait for what holds this org up.
            if (!(await useChoice(db, handle, identityId))) throw notPossible();
          },
        ),
      );
      return member;
    },

    async decline(cookie, identityId) {
      const choice = await find(cookie, identityId);
      if (choice === undefined) throw notPossible();
      if (!choice.accepted) await declineIdentity(database.writes, choice);
    },
  };
}

async function accept(transaction: OrgTransaction, key: ChoiceRow): Promise<void> {
  const { db, org, revision, time } = transaction;
  const [row] = await readByKeys(db, identityDefinition, [key]);
  if (row === undefined) throw notPossible();
  const change = { fields: identityDefinition.toMessage(row), columns: { accept_time: time, decline_time: null } };
  const updated = await updateRow({ db, org, revision, time }, identityDefinition, row, change);
  recordChange(transaction, identityDefinition, row, { ...row, ...updated });
}

function toChoice(row: ChoiceRow): SignInChoice {
  const creatorPath = formerMemberPath({
    orgId: row.creator_org_id,
    orgName: row.creator_org_name,
    orgDeleteTime: row.creator_org_delete_time,
    id: row.creator_id,
    name: row.creator_name,
    deleteTime: row.creator_delete_time,
  });
  return {
    id: row.id,
    orgId: row.org_id,
    path: formatPath(
      patterns.Member,
      pathName({ id: row.org_id, name: row.org_name, delete_time: null }),
      row.member_name,
    ),
    displayName: row.member_display_name,
    orgDisplayName: row.org_display_name,
    providerName: row.provider_display_name,
    state: row.accepted ? "ACCEPTED" : row.declined ? "DECLINED" : "WAITING",
    creator:
      creatorPath === ""
        ? undefined
        : { path: creatorPath, displayName: row.creator_display_name ?? row.creator_name ?? "" },
  };
}

function notPossible(): ServiceError {
  const message =
    "this cannot be chosen: it was chosen before, waits for your acceptance, or has ended since you signed in; sign in again";
  return new ServiceError("GRANT_INVALID", message);
}
