// Where the log is written. While its disk is full, lines wait in memory, and are lost beyond a megabyte of them: the server goes on.
import pino from "pino";

type Destination = ReturnType<typeof pino.destination>;

const maxWaiting = 1_048_576;

/** What a full disk, and a full share of one, answer. */
const fullCodes: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT"]);

interface LogOptions {
  /** A terminal that has gone ends the service with SIGHUP; until then, and with `nohup` for ever, nobody reads the lines. */
  readonly isTerminal: boolean;
}

/**
 * @param dest a file, or the descriptor of one.
 * @throws Error where a line is written, if it cannot be for another reason, and it is not for a terminal.
 */
export function createLogDestination(dest: number | string, { isTerminal }: LogOptions): Destination {
  const out = pino.destination({ dest, sync: true, maxLength: maxWaiting });
  let lost = 0;
  out.on("error", (error: NodeJS.ErrnoException) => {
    if (!isTerminal && !fullCodes.has(error.code)) throw error;
  });
  out.on("drop", () => void lost++);
  // What waits is written before the next line.
  out.on("write", () => {
    if (lost === 0) return;
    const before = lost;
    const line = {
      level: 40,
      time: new Date().toISOString(),
      lost,
      msg: "writes to the log were lost: its disk was full",
    };
    lost = 0;
    out.write(`${JSON.stringify(line)}\n`);
    // It has found no room either.
    if (lost > 0) lost = before;
  });
  return out;
}
