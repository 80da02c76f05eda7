import type { LogHead } from "../changes/revision.ts";
import type { RecentHead } from "./recent-orgs.ts";
import type { AccessToken, Impersonator } from "./tokens/access-token.ts";

/** The member that makes a call. */
export interface Caller {
  readonly memberId: string;
  readonly orgId: string;
  /** The customer of the org. */
  readonly customerId: string;
  /** The API key that the call was made with, or the API key or session of its token. */
  readonly credentialId: string;
  /** When that API key or session expires; null if it does not. */
  readonly credentialExpireTime: Date | null;
  /** The revision of the org up to which grants count for that API key; null if all count. */
  readonly grantsUntil: string | null;
  /** The public part of the API key, or the client that signed in. */
  readonly clientId: string;
  /** The permissions to which that API key or the token is narrowed; undefined for all. */
  readonly scopes: readonly string[] | undefined;
  /** The project to which the token is narrowed; undefined for none. */
  readonly projectId: string | undefined;
  /** The prefixes of the addresses from which the API key or token is accepted; undefined for all. */
  readonly allowedAddresses: readonly string[] | undefined;
  /** Who acts as the member; undefined for the member itself. */
  readonly impersonator: Impersonator | undefined;
  /** The token of the call; undefined for a call with an API key. */
  readonly token: AccessToken | undefined;
  /**
   * Whether it acts as a SCIM source, in a call in process about what the source manages. Only the facade for SCIM sets it, after it has
   * checked that.
   */
  readonly provisions?: true | undefined;
  /** The head of the org's change log, read after the call arrived. No older state may decide about the call. */
  readonly orgHead: LogHead;
  /** The heads of other orgs that were read with it. */
  readonly recentHeads: readonly RecentHead[];
  /** The database's clock at that time, in milliseconds. */
  readonly time: number;
  /**
   * Set for a call that was authenticated from memory, because the database is away: when what decided that was last known to be current,
   * by the database's clock, in milliseconds.
   */
  readonly staleSince?: number | undefined;
}
