// Records which statements the code in src/ sends, in the processes of the tests. scripts/statements-on-15.ts compares two runs.
import { appendFileSync, mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, expect } from "vitest";
import type { FileRecord, RecordedStatement } from "../../scripts/statements/compare-statements.ts";
import { identityOf, normaliseText } from "../../scripts/statements/statement-identity.ts";

const root = join(import.meta.dirname, "../..");
/** The statements of the file that runs, by their texts. To read a stack takes longer than to send a statement. */
const sent = new Map<string, RecordedStatement | undefined>();
let isRecording = false;

/** Records the statements of the file that begins, and writes a `FileRecord` for it into a file of a folder. */
export function recordStatements(folder: string): void {
  if (!isRecording) watchStatements();
  isRecording = true;
  afterAll(() => {
    const file = relative(root, expect.getState().testPath ?? "");
    const all = [...sent.values()].filter((statement) => statement !== undefined);
    const distinct = new Map(all.map((statement) => [`${statement.identity} ${statement.text}`, statement]));
    const record: FileRecord = { file, statements: [...distinct.values()] };
    sent.clear();
    mkdirSync(folder, { recursive: true });
    appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(record)}\n`);
  });
}

function watchStatements(): void {
  const { query } = pg.Client.prototype;
  function watched(this: pg.Client, ...parameters: readonly unknown[]): unknown {
    const [statement] = parameters as readonly (string | { readonly text?: string; readonly name?: string })[];
    const { text, name } = typeof statement === "string" ? { text: statement, name: undefined } : (statement ?? {});
    if (text !== undefined && !sent.has(text)) sent.set(text, recordOf(text, name));
    return Reflect.apply(query, this, parameters);
  }
  pg.Client.prototype.query = watched as typeof query;
}

function recordOf(text: string, name: string | undefined): RecordedStatement | undefined {
  const identity = identityOf({ frames: readFrames(), name, text });
  if (identity === undefined) return undefined;
  return { identity, text: normaliseText(text) };
}

/** Returns the functions of this project that lead here, the nearest one first. */
function readFrames(): readonly string[] {
  return callSites().flatMap((site) => {
    const name = site.getFileName() ?? "";
    const file = relative(root, name.startsWith("file:") ? fileURLToPath(name) : name);
    if (file === "" || /^\.\.|node_modules|^node:/.test(file)) return [];
    const functionName = site.getFunctionName();
    return [functionName === null ? file : `${file} ${functionName}`];
  });
}

/** Returns the stack without its text: to find the lines of its frames in the sources takes long. */
function callSites(): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.prepareStackTrace = (_error, sites) => sites;
  Error.stackTraceLimit = 200;
  const { stack } = new Error("a statement");
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  return stack as unknown as readonly NodeJS.CallSite[];
}
