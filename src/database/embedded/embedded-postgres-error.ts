/** A machine-readable reason. The message is for people, with the path and a remedy. */
export type EmbeddedPostgresErrorReason =
  | "UNSUPPORTED_PLATFORM"
  | "NOT_INSTALLED"
  | "BINARIES_UNUSABLE"
  | "DIRECTORY_UNUSABLE"
  | "DISK_FULL"
  | "VERSION_MISMATCH"
  | "IN_USE"
  | "NO_SOCKET"
  | "START_FAILED"
  | "GAVE_UP";

export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
  readonly reason: EmbeddedPostgresErrorReason;

  constructor(reason: EmbeddedPostgresErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
