// Fails if the tests on PostgreSQL 18 send a statement of src/ that those on PostgreSQL 15, which are fewer, do not send.
//   RECORD_STATEMENTS=on-18 npm test
//   RECORD_STATEMENTS=on-15 TEST_DATABASE_URL=postgres://... npm test
//   node scripts/statements-on-15.ts on-18 on-15
import { compareStatements } from "./statements/compare-statements.ts";
import { exceptions } from "./statements/exceptions.ts";
import { readRecords } from "./statements/read-records.ts";

const [on18, on15] = process.argv.slice(2);
if (on18 === undefined || on15 === undefined) throw new Error("the arguments are the folders of two runs");

const [first, second] = [readRecords(on18), readRecords(on15)];
const { missing, unused } = compareStatements(first, second, exceptions);
for (const { identity, excerpt, files } of missing) {
  const others = files.length > 3 ? `, and ${files.length - 3} others` : "";
  console.error(`${identity}\n  ${excerpt}\n  sent by ${files.slice(0, 3).join(", ")}${others}`);
}
for (const { start } of unused)
  console.error(`scripts/statements/exceptions.ts has an entry that is not needed: ${start}`);
if (missing.length > 0) {
  console.error(
    `No test sends these ${missing.length} statements to PostgreSQL 15. Add a file that does to test/support/files-on-15.ts, or what ` +
      "they begin with, and a reason, to scripts/statements/exceptions.ts.",
  );
}
if (missing.length > 0 || unused.length > 0) process.exitCode = 1;
else {
  const count = new Set(first.flatMap(({ statements }) => statements.map(({ identity }) => identity))).size;
  console.log(
    `All ${count} statements of ${first.length} files are sent by ${second.length} files on PostgreSQL 15, too.`,
  );
}
