// What a write decides by the time gets it as a value, that was read with its lock (src/database/clock.ts); what waits for others locks
// rows. The exceptions are listed here, each with its reason.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

interface Rule {
  readonly title: string;
  readonly pattern: RegExp;
  /** By file: the number of lines, and why they may be there. */
  readonly exceptions: Readonly<Record<string, readonly [number, string]>>;
}

const isHidden = "hides what has ended from Get and List; a write that replaces or counts it uses the time of its lock";
const ofPartitions = "finds whole months, and locks nothing that a write decides by";

const ofMigrations = "says when something happened, and decides nothing";

const rules: readonly Rule[] = [
  {
    title: "calls the clock of the database",
    pattern: /\b(?:now|clock_timestamp|statement_timestamp|transaction_timestamp)\(\)|\bcurrent_timestamp\b/i,
    exceptions: {
      "src/database/clock.ts": [3, "reads the clock"],
      "src/changes/lock-org.ts": [1, "reads the clock with the lock"],
      "src/changes/lock-customer-log.ts": [1, "reads the clock with the lock"],
      "src/database/held-log.ts": [3, "finds what is older than days, for whole months"],
      "src/database/hints.ts": [3, "says which servers listen, for hints that nothing depends on"],
      "src/database/partitions.ts": [4, ofPartitions],
      "src/database/dump/write-dump.ts": [1, "says of when a dump is, and reads only"],
      "src/database/migration/applied.ts": [1, ofMigrations],
      "src/database/migration/blockers.ts": [1, ofMigrations],
      "src/database/migration/fills.ts": [3, ofMigrations],
      "src/jobs/statistics-job.ts": [1, "asks whether the transaction itself has analysed a table"],
      "src/access/snapshots/advance-snapshot.ts": [1, "leaves out old partitions of the log"],
      "src/access/evaluation/limited-grants.ts": [2, "decides about a read, and leaves out old partitions of the log"],
      "src/events/access-events/store.ts": [1, isHidden],
      "src/events/deliveries/customer-logs.ts": [1, "makes no row again for an org whose purge removes such rows"],
      "src/iam/sessions/store.ts": [1, isHidden],
      "src/iam/usage/read-frame.ts": [1, "says until when something was read"],
      "src/iam/usage/select-usage.ts": [1, "leaves out of a read what is being purged"],
    },
  },
  {
    title: "takes an advisory lock",
    pattern: /pg_(?:try_)?advisory/,
    exceptions: {
      "src/database/embedded/owner-lock.ts": [1, "tells whose the embedded server is, which is one process"],
      "src/database/partitions.ts": [2, "is about the tables of one server, not about rows"],
      "src/database/same-database.ts": [2, "asks whether two connections lead to one server"],
      "src/database/migration/migration-lock.ts": [1, "is about the tables of one server, not about rows"],
      "src/standard-methods/write/write-call.ts": [2, "is about a request id without a row; a group only tries it"],
    },
  },
  {
    title: "finds rows by their location in a subquery",
    pattern: /ctid (?:in|= any) ?\((?:\s*$|array|select)/,
    exceptions: {},
  },
  {
    title: "looks at the constraint or the code of an error",
    pattern: /\.constraint\b(?!\(")|["'`]23(?:\d{3})?["'`]/,
    exceptions: { "src/database/failure.ts": [1, "is the one function that does"] },
  },
];

/** Lines of code; comments may name what they do not call. */
const lines = globSync("src/**/*.ts", { cwd: root, exclude: ["src/database/migrations/**", "src/cli/**"] })
  .toSorted()
  .flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .map((text, index) => ({ file, text, at: `${file}:${index + 1} ${text.trim()}` })),
  )
  .filter(({ text }) => !/^\s*(?:\/\/|\/?\*)/.test(text));

/** A function of the process of that name is not the database's. */
const isOfProcess = (text: string): boolean => /\b(?:Date|performance)\.now\(\)|= now\(\);/.test(text);

test.each(rules)("no statement $title, but for those that are listed", ({ pattern, exceptions }) => {
  const found = lines.filter(({ text }) => pattern.test(text) && !isOfProcess(text));
  expect(found.filter(({ file }) => exceptions[file] === undefined).map(({ at }) => at)).toEqual([]);
  const counts = Object.entries(Object.groupBy(found, ({ file }) => file)).map(([file, all = []]) => [
    file,
    all.length,
  ]);
  const allowed = Object.entries(exceptions).map(([file, [count]]) => [file, count]);
  // One that is gone leaves the list.
  expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(allowed));
});
