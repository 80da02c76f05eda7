import { CommandError, exitCodes } from "../command-error.ts";

/** Returns the error of a service that gives no answer, or not all of it. */
export function unreachable(origin: string, error: unknown): CommandError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException).code ?? (cause instanceof Error ? cause.message : String(cause));
  const why: Readonly<Record<string, string>> = {
    ECONNREFUSED: "nothing listens there",
    ENOTFOUND: "there is no such host",
    ECONNRESET: "it has closed the connection",
    UND_ERR_SOCKET: "it has closed the connection",
  };
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  const text = isTimeout ? "it does not answer in time" : (why[code] ?? code);
  return new CommandError(`${origin} cannot be reached: ${text}`, {
    exitCode: exitCodes.tryAgain,
    reason: "UNREACHABLE",
    next: "--server or TENANTRY_URL names the service",
    cause: error,
  });
}
