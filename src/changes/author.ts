import type { Kysely } from "kysely";
import type { Schema } from "../database/schema.ts";
import type { Later, WriteTransaction } from "../database/write-transaction.ts";
import type { LogHead } from "./revision.ts";
import type { RecentColumns } from "../identity/recent-heads.ts";

/** The author of a change, and the call that makes it. */
export interface Author {
  /** The member's id; null for the service itself. */
  readonly actorId: string | null;
  /** The org that the member is in; null for the service itself. */
  readonly actorOrgId: string | null;
  /** When the credential of the call expires; null if it does not, and for the service itself. */
  readonly credentialExpireTime: Date | null;
  /**
   * The revision of the member's org up to which grants count for the credential; null if all count, and for the service
   * itself.
   */
  readonly grantsUntil: string | null;
  /** How the credential of the call narrows what the member holds; undefined if it does not. */
  readonly narrowing?:
    | {
        readonly scopes: readonly string[] | undefined;
        readonly projectId: string | undefined;
        /** The member that acts as the author. */
        readonly impersonatorId?: string | undefined;
      }
    | undefined;
  /** The prefixes of the addresses from which the credential of the call is accepted; undefined for all. */
  readonly allowedAddresses?: readonly string[] | undefined;
  /** Whether the credential of the call is of a registered client, which a person has allowed to act for it. */
  readonly isOfClient?: boolean;
  /** Whether it is a SCIM source, which changes what it manages whatever that holds. */
  readonly provisions?: true | undefined;
  /** The method's full name, `iam.v1alpha.MembersService/CreateMember`. */
  readonly method: string;
  readonly origin: Origin;
  readonly confirm: ConfirmAuthor;
}

/** The org of an author, as it was read when the author was confirmed. */
export interface AuthorHead extends LogHead {
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

/**
 * What the database has of the credential of a call, of the author's org, and of the org that the call is about if that is another one;
 * nothing if the credential is no longer valid.
 */
export type FoundAuthor = readonly (Pick<AuthorHead, "revision" | "now"> &
  RecentColumns & {
    /** When the key ends, or what has rotated the key of the token ends the token; null for never. */
    readonly end_time: Date | null;
  })[];

export interface ConfirmAuthor {
  /**
   * Checks again that the author may make the change. A write calls it when it has its locks: the author may have lost the
   * permission while the write waited for them. So does a read that has waited.
   *
   * @param db the transaction of the write.
   * @param locked the org that the write has locked; undefined if it has locked another resource.
   * @param item the index of the only item of a batch on which the write acts under this lock; undefined for all.
   * @param found what `readWithNext` has read, after the locks were taken.
   * @returns the author's org, if it was read for this; undefined for the service itself.
   * @throws ServiceError PERMISSION_DENIED or TOKEN_INVALID
   */
  (
    db: Kysely<Schema>,
    locked: LockedOrg | undefined,
    item?: number,
    found?: FoundAuthor,
  ): Promise<AuthorHead | undefined>;
  /**
   * Reads the credential of the call together with the next statement, if the call is about another org than the author's: a write there
   * reads it in any case. To be called when the lock of the org was sent.
   */
  readonly readWithNext?: (db: WriteTransaction) => Later<FoundAuthor> | undefined;
}

/** Where a change comes from, for the change log. Each part is null if it is not known or was not sent. */
export interface Origin {
  /** The id of the API key. */
  readonly credentialId: string | null;
  readonly requestId: string | null;
  /** The client's IP address. */
  readonly remoteAddress: string | null;
  readonly userAgent: string | null;
  /** Why the change is made, in the words of the caller. */
  readonly reason: string | null;
  /** On whose behalf the change is made, in the words of the caller. */
  readonly onBehalfOf: string | null;
}

/** The origin of changes that the service makes by itself. */
const fromService: Origin = {
  credentialId: null,
  requestId: null,
  remoteAddress: null,
  userAgent: null,
  reason: null,
  onBehalfOf: null,
};

/** An org that a write has locked. */
export interface LockedOrg {
  readonly id: string;
  readonly revision: string;
  /** When the lock was taken, by the database's clock. */
  readonly lockTime: Date;
  /** The credentials of members of the org that were found to be valid under the lock; undefined if only one write has it. */
  readonly confirmed?: Set<string>;
}

/** Returns the service itself as the author of a change. It may make every change. */
export function serviceAuthor(method: string): Author {
  const nobody = { actorId: null, actorOrgId: null, credentialExpireTime: null, grantsUntil: null };
  return { ...nobody, method, origin: fromService, confirm: () => Promise.resolve(undefined) };
}

/** The author of the removal of what has ended by itself, or is purged. */
export const purgeAuthor = serviceAuthor("tenantry/purge");
