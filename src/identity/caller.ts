import type { LogHead } from "../changes/revision.ts";

/** The member that makes a call. */
export interface Caller {
  readonly memberId: string;
  readonly orgId: string;
  /** The API key that the call was made with. */
  readonly apiKeyId: string;
  /** When that key expires; null if it does not. */
  readonly keyExpireTime: Date | null;
  /** The revision of the org up to which grants count for that key; null if all count. */
  readonly grantsUntil: string | null;
  /** The head of the org's change log, read after the call arrived. No older state may decide about the call. */
  readonly orgHead: LogHead;
  /** The database's clock at that time, in milliseconds. */
  readonly time: number;
}
