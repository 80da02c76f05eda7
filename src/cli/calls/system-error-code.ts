/** Returns the system error code, such as `ECONNREFUSED`, that caused a failure; undefined if there is none. */
export function systemErrorCode(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === "string" && /^E[A-Z0-9]+$/.test(code)) return code;
  }
  return undefined;
}
