// What an org has approved for members of the platform, as decisions read it.

/** An approved access request of a member of the platform, as far as decisions need it. */
export interface SupportGrant {
  readonly requestId: string;
  readonly memberId: string;
  /** Null for the whole org. */
  readonly projectId: string | null;
  /** In milliseconds. */
  readonly expireTime: number;
  /** The name of a predefined role; null for a role of the org, whose permissions are given. */
  readonly role: string | null;
  readonly permissions: readonly string[] | null;
}

/** What an org that requires requests has approved. */
export interface SupportAccess {
  /** Null for what is of several orgs, and approved by none. */
  readonly orgId: string | null;
  /** The project that the target is or is in; null for none. */
  readonly projectId: string | null;
  readonly grants: readonly SupportGrant[];
}
