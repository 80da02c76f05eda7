// What a person sees of everything that can act as it, and the end of it all. The person itself does it, who is signed in with a browser,
// so it needs no role: what is one's own can always be taken away.
import type { Origin } from "../../changes/author.ts";
import { type OrgTransaction, inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import { removeRows } from "../../standard-methods/rows/remove-rows.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { apiKeyDefinition } from "../api-keys/definition.ts";
import { endKeys } from "../api-keys/end-keys.ts";
import type { ApiKeyRow } from "../api-keys/store.ts";
import { identityDefinition } from "../identities/definition.ts";
import type { IdentityRow } from "../identities/store.ts";
import { memberDefinition } from "../members/definition.ts";
import { endAllTokens } from "../members/revoke-tokens.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { readSessionsOfIdentities } from "../sessions/store.ts";
import { type SignedInMember, signInAuthor } from "../sign-in/browser-sessions.ts";
import { type WaysOfMember, readFirstIdentities, readFirstKeys, readSignInOf, readWays } from "./store.ts";

export interface Account {
  /** Returns what can act as the members that a browser is signed in as, in their order. */
  readWays(members: readonly SignedInMember[]): Promise<readonly WaysOfMember[]>;
  /**
   * Ends everything that can act as a member: its API keys, all sessions and tokens, also those of this browser and of clients, the codes
   * of clients, one-time codes, and its identities except the one with which this browser is signed in.
   *
   * @returns whether all has ended; false when the browser was no longer signed in as the member, which is decided under the lock of
   *   its org: what ended the sign-in meanwhile may have meant to stop who has the browser.
   */
  endWays(member: SignedInMember, origin: Origin): Promise<boolean>;
}

interface AccountDependencies {
  readonly database: Database;
  readonly registry: ResourceRegistry;
}

/** What removing some leads to. */
type Step = "more" | "ended" | "signed out";

/** How many API keys and identities are removed under one lock of the org. */
const maxRemoved = 200;

export function createAccount({ database, registry }: AccountDependencies): Account {
  const removeKeys = async (transaction: OrgTransaction, rows: readonly ApiKeyRow[]): Promise<void> => {
    const ids = rows.map(({ id }) => id);
    await endKeys(transaction, registry, ids);
    await removeRows(transaction.db, registry, apiKeyDefinition, transaction.org, rows);
    for (const row of rows) recordChange(transaction, apiKeyDefinition, row, null);
  };

  const removeIdentities = async (transaction: OrgTransaction, rows: readonly IdentityRow[]): Promise<void> => {
    const { db, org } = transaction;
    const ids = rows.map(({ id }) => id);
    await endSessions(transaction, registry, await readSessionsOfIdentities(db, org.id, ids));
    await removeRows(db, registry, identityDefinition, org, rows);
    for (const row of rows) recordChange(transaction, identityDefinition, row, null);
  };

  /**
   * Removes some API keys and identities. With the last of them, under the same lock, all tokens end, so that nothing that was made
   * meanwhile is left.
   *
   * @returns whether there is more, or all has ended; `signed out` if the browser is no longer signed in, for which nothing is removed.
   */
  const endSome = async (transaction: OrgTransaction, member: SignedInMember): Promise<Step> => {
    const { db } = transaction;
    const signIn = await readSignInOf(db, member);
    if (signIn === undefined) return "signed out";
    const keys = await readFirstKeys(db, member, maxRemoved);
    const identities = await readFirstIdentities(db, member, signIn.identityId, maxRemoved);
    await removeKeys(transaction, keys);
    await removeIdentities(transaction, identities);
    if (keys.length === maxRemoved || identities.length === maxRemoved) return "more";
    const row = await findRow(db, memberDefinition, [
      { by: "id", value: member.orgId },
      { by: "id", value: member.memberId },
    ]);
    if (row !== undefined) await endAllTokens(transaction, row);
    return "ended";
  };

  return {
    readWays: (members) => Promise.all(members.map((member) => readWays(database.reads, member))),

    async endWays(member, origin) {
      const author = signInAuthor(member, "tenantry/end-everything", origin);
      const org = { by: "id", value: member.orgId } as const;
      const end = (): Promise<Step> =>
        inTransaction(database, (db) =>
          writeInOrg(db, { org, state: "any" }, author, (transaction) => endSome(transaction, member)),
        );
      let step: Step;
      do step = await end();
      while (step === "more");
      return step === "ended";
    },
  };
}
