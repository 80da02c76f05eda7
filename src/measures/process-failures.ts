// What becomes of failures in the process that no code waits for.

/** How many there were. */
export interface ProcessFailures {
  rejections: number;
}

interface Handlers {
  /** Called for a promise that was rejected and that nothing waits for, with its error. Others are only counted: see `maxNoted`. */
  readonly onRejection: (error: unknown) => void;
  /** Called for an error that was thrown where nothing catches it: what it has left half done is not known. */
  readonly onException: (error: Error) => void;
}

/** How many rejections of a minute are told one by one. Who finds out how to cause one can cause many. */
const maxNoted = 20;
const minuteMs = 60_000;

/** Without this, Node ends the process for both. */
export function handleProcessFailures({ onRejection, onException }: Handlers): ProcessFailures {
  const failures: ProcessFailures = { rejections: 0 };
  let [minute, noted] = [-Infinity, 0];
  process.on("unhandledRejection", (reason) => {
    failures.rejections++;
    const now = performance.now();
    if (now > minute + minuteMs) [minute, noted] = [now, 0];
    if (noted++ < maxNoted) onRejection(reason);
  });
  process.on("uncaughtException", onException);
  return failures;
}
