// Fails if the tests send a statement that touches a table of orgs to which neither an org nor a customer leads, and that
// scripts/statements/not-led.ts does not list; or one that joins such a table with `orgs` without the customer of both.
//   RECORD_STATEMENTS=on-18 npm test
//   node scripts/statements-by-org.ts on-18
import { joinedByOrgAlone } from "./statements/joined-by-customer.ts";
import { tablesNotLed } from "./statements/led-by-org.ts";
import { type NotLed, anyOrg, notLed } from "./statements/not-led.ts";
import { readRecords } from "./statements/read-records.ts";
import { tablesOfOrgs } from "./statements/tables-of-orgs.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("the argument is the folder of a run");

const sent = new Map(
  readRecords(folder).flatMap(({ statements }) =>
    statements.map(({ identity, text }) => [`${identity} ${text}`, { identity, text }]),
  ),
);
const found = [...sent.values()].flatMap((statement) =>
  tablesNotLed(statement.text, tablesOfOrgs).map((table) => ({ ...statement, table })),
);
const covers = ({ start = "", end = "", tables }: NotLed, { identity, table }: (typeof found)[number]): boolean =>
  identity.startsWith(start) && identity.endsWith(end) && (tables?.includes(table) ?? true);
const isListed = (each: (typeof found)[number]): boolean => notLed.some((entry) => covers(entry, each));
// A statement that has waited for a connection may have no function, or another one, so that its text says which one it is.
const listedTexts = new Set(found.filter(isListed).map(({ text, table }) => `${table} ${text}`));
const unlisted = Map.groupBy(
  found.filter(({ text, table }) => !listedTexts.has(`${table} ${text}`)),
  ({ identity }) => identity,
);
const unused = notLed.filter((entry) => !found.some((each) => covers(entry, each)));

for (const [identity, all] of [...unlisted].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
  const tables = [...new Set(all.map(({ table }) => table))].join(", ");
  console.error(`${identity}\n  neither an org nor a customer leads to ${tables}\n  ${all[0]?.text.slice(0, 400)}`);
}
// Those of lookups are of all tables.
for (const { start, end } of unused.filter(({ reason }) => reason !== anyOrg))
  console.log(`scripts/statements/not-led.ts has an entry that this run did not need: ${start ?? end}`);
if (unlisted.size > 0) {
  console.error(
    `Neither an org nor a customer leads these ${unlisted.size} statements to tables of orgs. Add a condition on customer_id or org_id, or ` +
      "what they begin with, and a reason, to scripts/statements/not-led.ts.",
  );
}
// Migrations are older than the customers of rows, or make them.
const joined = [...sent.values()].filter(
  ({ identity, text }) => !identity.startsWith("src/database/migration") && joinedByOrgAlone(text).length > 0,
);
for (const { identity, text } of joined) {
  console.error(`${identity}\n  joins ${joinedByOrgAlone(text).join(", ")} with orgs by org_id alone: add customer_id`);
}
if (unlisted.size > 0 || joined.length > 0) process.exitCode = 1;
else {
  const [all, listed] = [[...sent.values()], found].map((some) => new Set(some.map(({ identity }) => identity)).size);
  console.log(
    `An org or a customer leads each of ${all} statements to each table of orgs, but for the ${listed} that are listed.`,
  );
}
