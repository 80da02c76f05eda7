export type Log = (level: "info" | "warn" | "error", message: string, fields?: Record<string, unknown>) => void;

/** The server's `log_line_prefix`, which `createServerLog` parses: the backend type and the SQLSTATE. */
export const logLinePrefix = "%b|%e|";

export interface ServerLog {
  write(line: string): void;
  /** Returns the last lines, for an error message when the server ends unexpectedly. */
  tail(): string;
  /** False while the server starts and stops, when it refuses and ends sessions. */
  expectSessions: boolean;
}

/** Parses the lines that the server writes, and passes those that concern an operator to `log`. */
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
 * Whether an error concerns the server. Errors caused by a client (a duplicate key, a cancelled query) are reported to that
 * client only; a client that may not connect (class 28), a full disk (53), a failing disk (58) and corruption (XX) concern the
 * operator.
 */
function concernsServer(backend: string, sqlstate: string): boolean {
  return backend !== "client backend" || /^(28|53|58|XX)/.test(sqlstate);
}
