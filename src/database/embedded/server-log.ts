export type Log = (level: "info" | "warn" | "error", message: string, fields?: Record<string, unknown>) => void;

/** The server's `log_line_prefix` that `createServerLog` reads: the backend's kind and the SQLSTATE. */
export const logLinePrefix = "%b|%e|";

export interface ServerLog {
  write(line: string): void;
  /** The last lines, for the message about an early end. */
  tail(): string;
  /** While the server starts and stops, sessions are refused and ended: then this is false. */
  expectSessions: boolean;
}

/** Reads the lines that the server writes and passes on to `log` what an operator should see. */
export function createServerLog(log: Log): ServerLog {
  const lines: string[] = [];
  return {
    expectSessions: false,
    tail: () => lines.join("\n"),
    write(line) {
      const [, backend = "", sqlstate = "", severity = "", message = line] =
        /^([^|]*)\|(\w{5})\|(\w+): {2}(.*)/.exec(line) ?? [];
      lines.push(severity === "" ? line : `${severity}: ${message}`);
      if (lines.length > 30) lines.shift();
      if (severity === "PANIC") log("error", `PostgreSQL: ${message}`, { backend, sqlstate });
      if (severity === "WARNING") log("warn", `PostgreSQL: ${message}`, { backend, sqlstate });
      if ((severity === "ERROR" || severity === "FATAL") && this.expectSessions && concernsServer(backend, sqlstate)) {
        log("error", `PostgreSQL: ${message}`, { backend, sqlstate });
      }
    },
  };
}

/**
 * Whether an error says something about the server. What a client did wrong (a duplicate key, a cancelled query) is told
 * to the client and is none of the operator's business; a full disk (class 53), a failing one (58) and damage (XX) are.
 */
function concernsServer(backend: string, sqlstate: string): boolean {
  return backend !== "client backend" || /^(53|58|XX)/.test(sqlstate);
}
