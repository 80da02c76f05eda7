/** Whether an error of Node or of the database has one of these codes: `hasCode(error, "ENOENT")`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
