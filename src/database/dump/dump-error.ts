export type DumpErrorReason =
  /** It is no dump, or one of another kind. */
  | "NO_DUMP"
  /** Bytes of it were changed, or its end is missing. */
  | "DAMAGED"
  /** A newer version has made it. */
  | "NEWER"
  /** The database that it was to be restored into has something. */
  | "NOT_EMPTY"
  /** Another secret key, identity or passphrase is needed. */
  | "WRONG_KEY"
  | "FILE_EXISTS";

/** A dump cannot be made, read or restored. The message says what to do. */
export class DumpError extends Error {
  override readonly name = "DumpError";
  readonly reason: DumpErrorReason;

  constructor(reason: DumpErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
