/** The member who makes a call. */
export interface Caller {
  readonly memberId: string;
  readonly orgId: string;
  /** The API key that the call was made with. */
  readonly apiKeyId: string;
}
