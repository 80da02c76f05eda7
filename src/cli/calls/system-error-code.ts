import { causesOf } from "../../errors/causes-of.ts";

/** Returns the system error code, such as `ECONNREFUSED`, that caused a failure; undefined if there is none. */
export function systemErrorCode(error: unknown): string | undefined {
  for (const cause of causesOf(error)) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === "string" && /^E[A-Z0-9]+$/.test(code)) return code;
  }
  return undefined;
}
