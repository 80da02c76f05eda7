/** The author of a change, and the call that makes it. */
export interface Author {
  /** The member's id; null for the service itself. */
  readonly actorId: string | null;
  /** The org that the member is in; null for the service itself. */
  readonly actorOrgId: string | null;
  /** When the credential of the call expires; null if it does not, and for the service itself. */
  readonly credentialExpireTime: Date | null;
  /** The method's full name, `iam.v1alpha.MembersService/CreateMember`. */
  readonly method: string;
}
