/** Limits what the body of a call takes until its message is parsed. */
export interface BodyLimits {
  /** The maximum size in bytes, before and after decompression. */
  readonly maxBytes: number;
  /** How many bytes are read without room. Default: all. */
  readonly freeBytes?: number;
  /**
   * Returns a promise of room for more than `freeBytes`, or for the inflated form of a compressed body; undefined if the call has room.
   * Until it resolves, nothing is read, so that the client waits.
   */
  readonly makeRoom?: () => Promise<void> | undefined;
  /** Called when a body is refused, and so will not be parsed. */
  readonly leaveRoom?: () => void;
}
