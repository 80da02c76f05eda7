/** The member who makes a call. */
export interface Caller {
  readonly memberId: string;
  readonly orgId: string;
  /** The API key that the call was made with. */
  readonly apiKeyId: string;
  /** The head of its org's change log, read after the call arrived: nothing older may decide about the call. */
  readonly orgRevision: string;
  /** The database's clock at that moment, in milliseconds. */
  readonly time: number;
}
