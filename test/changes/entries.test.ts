// Entries of a batch are sent in another form than those of a single write. What is stored is the same.
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { serviceAuthor } from "../../src/changes/author.ts";
import { entriesOf, insertEntries } from "../../src/changes/entries.ts";
import type { Entry } from "../../src/database/commits.ts";
import { createPartitions } from "../../src/database/partitions.ts";
import type { Change } from "../../src/changes/change.ts";
import type { Database } from "../../src/database/database.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { transact } from "../../src/database/write-transaction.ts";

const odd = `"quoted" 'single' \\back\\ {brace,comma} NULL \n\t\u0001 $1 é 🦖 \ue000`;
const [revision, orgId, customerId] = [randomUUID(), randomUUID(), randomUUID()];
const count = 60;

const author = {
  ...serviceAuthor("iam.v1alpha.MembersService/BatchCreateMembers"),
  actorId: randomUUID(),
  origin: {
    credentialId: null,
    requestId: odd,
    remoteAddress: "2001:db8::1",
    userAgent: odd,
    reason: "",
    onBehalfOf: null,
  },
};

/** Rows of which most columns are the same in all, and some in most. */
const rowOf = (index: number) => ({
  org_id: orgId,
  name: `${odd}-${index}`,
  description: odd,
  labels: index === 7 ? { [odd]: odd } : {},
  permissions: ["one", odd],
  create_time: new Date(1_700_000_000_123),
  update_time: new Date(1_700_000_000_000 + (index === 9 ? 1 : 0)),
  delete_time: index === 11 ? new Date(0) : null,
  purge_time: null,
  size: "123456789012345678901234567890.50",
  ratio: 0.1,
  token_gen: undefined,
  ...(index === 13 && { another: "column" }),
});

const changeOf = (index: number, change: Partial<Change>): Change => ({
  type: "Member",
  id: randomUUID(),
  path: `orgs/acme/members/${odd}-${index}`,
  containerId: randomUUID(),
  before: null,
  after: null,
  ...change,
});

async function store(database: Database, entries: readonly Entry[], size: number): Promise<unknown[]> {
  return transact(database, async (db) => {
    await sql`delete from changes`.execute(db);
    for (let start = 0; start < entries.length; start += size)
      await insertEntries(db, entries.slice(start, start + size));
    return (await sql`select changes::text as text from changes order by position`.execute(db)).rows;
  });
}

const indexes = [...Array(count).keys()];

test.each<[string, readonly Change[]]>([
  ["creations", indexes.map((index) => changeOf(index, { after: rowOf(index) }))],
  ["removals", indexes.map((index) => changeOf(index, { before: rowOf(index), endTime: new Date(index) }))],
  ["updates", indexes.map((index) => changeOf(index, { before: rowOf(index), after: rowOf(index + 1) }))],
  [
    "creations after removals, of several types",
    indexes.map((index) =>
      index < 20
        ? changeOf(index, { before: rowOf(index) })
        : changeOf(index, { type: "Group", after: { ...rowOf(index), name: undefined, other: index } }),
    ),
  ],
])("stores the entries of many %s exactly as one by one", async (_what, changes) => {
  const database = await openTestDatabase();
  await createPartitions(database.writes);
  const entries = entriesOf(
    { org: { customer_id: customerId, id: orgId }, revision, time: new Date().toISOString() },
    author,
    changes,
  );
  const together = await store(database, entries, count);
  expect(together).toEqual(await store(database, entries, 1));
  expect(together).toHaveLength(count);
});
