// Checks docs/models/snapshots.pml with the model checker Spin: the protocol has no counterexample, and each weakening of it has
// one. Run with `npm run model`; `-- --stories` also prints the counterexamples. Takes about 40 seconds and less than 1 GB of memory.
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { pMapIterable } from "p-map";

const { values } = parseArgs({ options: { stories: { type: "boolean", default: false } } });

const modelFile = join(import.meta.dirname, "..", "docs", "models", "snapshots.pml");
const model = basename(modelFile);

type Property = "STATE" | "LOST_GRANT" | "REVOCATION" | "OWN_WRITE" | "OTHER_WRITE" | "NUMBER";

interface Check {
  readonly title: string;
  /** Macros of the model, as `NAME` or `NAME=value`. */
  readonly defines: readonly string[];
  /** The property that must fail. Without it, all properties must hold. */
  readonly fails?: Property;
}

interface Exploration {
  readonly states: number;
  readonly counterexample?: Counterexample;
}

interface Counterexample {
  /** What Spin reports, such as `assertion violated ...` or `invalid end state`. */
  readonly problem: string;
  /** The events that lead to it. */
  readonly story: string;
}

/** Beside any number of other servers and requests. */
const anyNumber = "OTHER_REQUESTS";

const protocol: readonly Check[] = [
  { title: "two servers, a reader on each", defines: ["SERVERS=2", "SECOND=Reader"] },
  { title: "two servers, a reader and a writer", defines: ["SERVERS=2", "SECOND=OwnWriter"] },
  { title: "two servers, a reader and a writer in another org", defines: ["SERVERS=2", "SECOND=OtherWriter"] },
  { title: "one server, two readers", defines: ["SECOND=Reader"] },
  ...[
    { title: "any servers and requests, a reader", defines: ["FIRST=Reader"] },
    { title: "any servers and requests, a writer", defines: ["FIRST=OwnWriter"] },
    { title: "any servers and requests, a writer in another org", defines: ["FIRST=OtherWriter"] },
  ].flatMap(({ title, defines }) => [
    { title, defines: [...defines, anyNumber, "REVISIONS=4", "FAILOVERS=2"] },
    { title: `${title}, and files`, defines: [...defines, anyNumber, "FILES"] },
  ]),
  { title: "two writers, and the lock is lost unseen", defines: ["FIRST=OwnWriter", "SECOND=OwnWriter", "LOSSES=1"] },
  {
    title: "any servers and requests, a writer, and the lock is lost unseen",
    defines: ["FIRST=OwnWriter", anyNumber, "REVISIONS=4", "LOSSES=2"],
  },
];

const reader = ["FIRST=Reader", anyNumber];
const ownWriter = ["FIRST=OwnWriter", anyNumber];
const otherWriter = ["FIRST=OtherWriter", anyNumber];
const twoReaders = ["SECOND=Reader"];

const weakenings: readonly Check[] = [
  ...weaken("NUMBERS", "revisions are compared by number", {
    STATE: reader,
    LOST_GRANT: reader,
    REVOCATION: reader,
    OWN_WRITE: ownWriter,
    OTHER_WRITE: otherWriter,
  }),
  ...weaken("AHEAD", "a snapshot ahead of the head is used", { LOST_GRANT: reader }),
  ...weaken("JOINED_STATEMENT", "a request joins a statement that has started", { REVOCATION: twoReaders }),
  ...weaken("TIME_OF_RESULT", "a read counts from its end, not its start", { REVOCATION: twoReaders }),
  ...weaken("OWN_REVISION", "the log need not have the snapshot's revision", { LOST_GRANT: reader }),
  ...weaken("TWO_STATEMENTS", "a first statement looks for it, a second reads on", {
    LOST_GRANT: [...reader, "REVISIONS=4"],
  }),
  ...weaken("TWO_TRANSACTIONS", "the tables are read in two transactions", { LOST_GRANT: reader }),
  ...weaken("ONE_DECISION", "no second decision under the lock", { OWN_WRITE: ownWriter, OTHER_WRITE: otherWriter }),
  ...weaken("TIME_OF_ARRIVAL", "the second decision counts reads before the lock", { OWN_WRITE: ownWriter }),
  ...weaken("HEAD_BEFORE_LOCK", "the second decision uses a head before the lock", { OTHER_WRITE: otherWriter }),
  ...weaken("FILE", "a file is used without its revision in the log", { LOST_GRANT: [...reader, "FILES"] }),
  ...weaken("TRANSACTIONS", "transactions survive a failover", { OWN_WRITE: [...ownWriter, "LOSSES=1"] }),
  ...weaken("HEAD", "a write sets the head and does not compare it", {
    NUMBER: [...ownWriter, "LOSSES=1"],
    OWN_WRITE: [...ownWriter, "LOSSES=1"],
  }),
  ...weaken("END", "a snapshot's head is not compared at its end", { REVOCATION: [...reader, "LOSSES=1"] }),
];

function weaken(name: string, title: string, failures: Partial<Record<Property, readonly string[]>>): Check[] {
  return Object.entries(failures).map(([property, defines]) => ({
    title,
    defines: [...defines, `WEAK_${name}`, `PROPERTY=${property}`],
    fails: property as Property,
  }));
}

const run = promisify(execFile);

const directory = await mkdtemp(join(tmpdir(), "tenantry-model-"));
try {
  await requireAllWeakenings();
  const explored = pMapIterable(
    [...protocol, ...weakenings],
    async (check) => ({ check, exploration: await explore(check) }),
    { concurrency: Math.min(availableParallelism(), 4) },
  );
  for await (const { check, exploration } of explored) {
    const isExpected = hasExpected(check, exploration);
    print(check, exploration, isExpected);
    if (!isExpected) process.exitCode = 1;
  }
} catch (error) {
  console.error(isMissing(error) ? "npm run model needs Spin and GCC: apt-get install spin gcc libc6-dev" : error);
  process.exitCode = 1;
} finally {
  await rm(directory, { recursive: true, force: true });
}

/** A weakening that no check uses would show nothing. */
async function requireAllWeakenings(): Promise<void> {
  const text = await readFile(modelFile, "utf8");
  const unused = new Set([...text.matchAll(/^#ifn?def (WEAK_\w+)/gm)].map(([, name = ""]) => name));
  for (const name of weakenings.flatMap(({ defines }) => defines)) unused.delete(name);
  if (unused.size > 0) throw new Error(`scripts/model.ts checks no weakening ${[...unused].join(", ")}`);
}

/** @throws Error when the exploration is not complete. */
async function explore({ defines, fails }: Check): Promise<Exploration> {
  const cwd = await mkdtemp(join(directory, "check-"));
  await copyFile(modelFile, join(cwd, model));
  const flags = defines.map((define) => `-D${define}`);
  await run("spin", [...flags, "-a", model], { cwd });
  // Searching breadth-first finds a shortest counterexample.
  const options = fails === undefined ? ["-O1"] : ["-O0", "-DBFS"];
  await run("gcc", ["-w", ...options, "-DSAFETY", "-o", "pan", "pan.c"], { cwd });
  const { stdout } = await run(join(cwd, "pan"), ["-m100000"], { cwd });
  const states = Number(/(\d+) states, stored/.exec(stdout)?.[1]);
  const problem = /^pan:1: (.*) \(at depth/m.exec(stdout)?.[1];
  if (problem === undefined) {
    if (!stdout.includes("errors: 0") || /not completed|too small/.test(stdout)) throw new Error(stdout);
    return { states };
  }
  const { stdout: replay } = await run("spin", [...flags, "-t", "-T", "-B", model], { cwd });
  const [story = ""] = replay.split(/^spin: /m);
  return { states, counterexample: { problem, story } };
}

function hasExpected({ fails }: Check, { counterexample }: Exploration): boolean {
  return fails === undefined
    ? counterexample === undefined
    : counterexample?.problem.startsWith("assertion violated") === true;
}

function print({ title, defines, fails }: Check, { states, counterexample }: Exploration, isExpected: boolean): void {
  const found = counterexample === undefined ? "no counterexample" : `${fails ?? "something"} fails`;
  const count = `${states.toLocaleString("en")} states`;
  console.log(`${isExpected ? "ok   " : "WRONG"} ${title.padEnd(52)} ${found.padEnd(20)} ${count.padStart(18)}`);
  if (!isExpected) console.log(`  with ${defines.join(" ")}`);
  if (counterexample === undefined || (isExpected && !values.stories)) return;
  console.log(`${counterexample.story}${counterexample.problem}\n`.replaceAll(/^(?=.)/gm, "  "));
}

function isMissing(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === "ENOENT";
}
