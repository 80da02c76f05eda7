import type { Result } from "../deliveries/send.ts";

/** Says why an answer of a receiver was not the one that RFC 8935 asks for (2.2, 2.3), in at most 1024 characters. */
export function describeAnswer({ status, answer, error }: Pick<Result, "status" | "answer" | "error">): string {
  if (error !== "") return error.slice(0, maxLength);
  const given = describeSetError(parse(answer)) ?? answer;
  const described = `the receiver answered ${status}, not 202${given === "" ? "" : `: ${given}`}`;
  // PostgreSQL stores no NUL, which JSON can have as an escape.
  return described.replaceAll("\0", "\u{fffd}").slice(0, maxLength);
}

const maxLength = 1_024;

/** Returns the code and the description of an error; undefined for what is none. */
export function describeSetError(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("err" in error) || typeof error.err !== "string")
    return undefined;
  const description = "description" in error && typeof error.description === "string" ? error.description : "";
  return description === "" ? error.err : `${error.err}: ${description}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
