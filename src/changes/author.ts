/** Who makes a change, and by which call. */
export interface Author {
  /** The member's id; null for the service itself. */
  readonly actorId: string | null;
  /** The org that the member is in; null for the service itself. */
  readonly actorOrgId: string | null;
  /** The method's full name, `iam.v1alpha.MembersService/CreateMember`. */
  readonly method: string;
}
