/** Whether an error of Node or PostgreSQL has one of the codes: `hasCode(error, "ENOENT")`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
