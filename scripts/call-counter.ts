// Counts calls of functions with V8's precise coverage.
//
// Three conditions make the counts exact. The coverage is detailed; otherwise V8 counts an async function again each time it
// resumes after an await. The code runs in V8's interpreter, because compiled code does not count calls. Counting starts before
// the code is loaded, because V8 does not count functions exactly that were compiled earlier: import the code dynamically.
import { readFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

export interface CalledFunction {
  /** The name in V8: an arrow function has the name of the constant or property that holds it. Empty if there is none. */
  readonly name: string;
  /** Relative to the counted folder. */
  readonly file: string;
  readonly line: number;
  readonly calls: number;
}

export interface CallCounter {
  /** Returns the functions that were called since the last call of `take`, the most frequently called first. */
  take(): Promise<CalledFunction[]>;
  stop(): Promise<void>;
}

/**
 * Counts the calls of functions in the files below a folder.
 *
 * @param folder a file URL that ends with a slash.
 */
export async function startCallCounter(folder: string): Promise<CallCounter> {
  for (const flag of ["--no-sparkplug", "--no-maglev", "--no-turbofan"]) setFlagsFromString(flag);
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return {
    async take() {
      const { result } = await session.post("Profiler.takePreciseCoverage");
      const scripts = result.filter(({ url }) => url.startsWith(folder));
      const called = scripts.flatMap(({ url, functions }) => {
        const lineOf = createLineOf(readFileSync(fileURLToPath(url), "utf8"));
        return functions.map(({ functionName, ranges: [whole] }) => ({
          name: functionName,
          file: url.slice(folder.length),
          line: lineOf(whole?.startOffset ?? 0),
          calls: whole?.count ?? 0,
        }));
      });
      return called.filter(({ calls }) => calls > 0).toSorted(compare);
    },
    async stop() {
      await session.post("Profiler.stopPreciseCoverage");
      session.disconnect();
    },
  };
}

/** Returns a function from offsets to lines. Node replaces types by blanks, so V8's offsets match the source. */
function createLineOf(source: string): (offset: number) => number {
  return (offset) => source.slice(0, offset).split("\n").length;
}

function compare(one: CalledFunction, other: CalledFunction): number {
  if (one.calls !== other.calls) return other.calls - one.calls;
  if (one.file !== other.file) return one.file < other.file ? -1 : 1;
  return one.line - other.line;
}
