// Compares a snapshot that is read in chunks with the tables. The large tables have more rows than one chunk.
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { LogEntry } from "../../src/access/engine/loading/apply-entry.ts";
import { loadRows } from "../../src/access/engine/loading/load-rows.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { subjectNumber } from "../../src/access/engine/tables/subject.ts";
import { advanceSnapshot } from "../../src/access/snapshots/advance-snapshot.ts";
import { createSnapshots } from "../../src/access/snapshots/current-snapshots.ts";
import { readSmallSnapshot, readSnapshot } from "../../src/access/snapshots/read-snapshot.ts";
import { toBindingRow } from "../../src/access/snapshots/to-binding-row.ts";
import { createPartitions } from "../../src/database/partitions.ts";
import { numberOf } from "../../src/changes/revision.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { required } from "../../src/errors/required.ts";
import { addLogged } from "../changes/logged-writes.ts";
import { write } from "../database/sample-rows.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { loseSnapshot } from "../support/lost-locks.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { sharedServer } from "../support/shared-server.ts";
import { insertOrg } from "./org-rows.ts";
import { sampleRevision } from "../support/revisions.ts";

const options = {
  predefinedRoles: { viewer: { permissions: ["iam.projects.get"] } },
  compileCondition: () => () => true,
};

async function readAll(database: Database, orgId: string): Promise<OrgSnapshot> {
  return required(await readSnapshot(database, orgId, options));
}

/** Loads a snapshot from the rows of plain selects. */
async function loadAll({ reads }: Database, orgId: string): Promise<OrgSnapshot> {
  const org = required((await reads.selectFrom("orgs").selectAll().where("id", "=", orgId).execute())[0]);
  const snapshot = createOrgSnapshot({ ...options, org });
  for (const table of ["members", "groups", "projects", "roles", "group_members", "subgroups", "role_bindings"]) {
    const { rows } = await sql<never>`select * from ${sql.table(table)} where org_id = ${orgId}`.execute(reads);
    loadRows(snapshot, { [table]: table === "role_bindings" ? rows.map(toBindingRow) : rows });
  }
  return snapshot;
}

/** Returns the contents of the snapshot, by ids. */
function contentsOf(snapshot: OrgSnapshot) {
  const { org, revision, members, groups, projects, roles, labels, memberships, nestings, bindings, scopes } = snapshot;
  const now = Date.UTC(2030, 0, 1, 0, 30);
  const numbersOf = ({ records }: { readonly records: OrgSnapshot["members"]["records"] }): number[] =>
    Array.from({ length: records.end() - 1 }, (_, index) => index + 1);
  const entities = [members, groups, projects, roles.custom].map((table) =>
    numbersOf(table).map((record) => `${table.idOf(record)} ${table.nameOf(record)} ${table.stateOf(record)}`),
  );
  const edges = [];
  for (const member of numbersOf(members)) {
    for (let edge = memberships.firstFrom(member); edge !== 0; edge = memberships.nextFrom(edge)) {
      const group = groups.idOf(memberships.groupOf(edge));
      edges.push(`${members.idOf(member)} ${group} ${memberships.holdsAt(edge, now)}`);
    }
  }
  for (const group of numbersOf(groups)) {
    for (let edge = nestings.firstFrom(group); edge !== 0; edge = nestings.nextFrom(edge)) {
      edges.push(`${groups.idOf(group)} in ${groups.idOf(nestings.groupOf(edge))}`);
    }
  }
  const times = [-Infinity, Date.UTC(1890, 5, 1, 12), Date.UTC(1890, 5, 1, 12, 0, 0, 1)];
  times.push(Date.UTC(2040, 5, 1, 12, 0, 0, 998), Date.UTC(2040, 5, 1, 12, 0, 0, 999));
  const granted = [];
  for (const [kind, table] of [
    ["member", members],
    ["group", groups],
  ] as const) {
    for (const record of numbersOf(table)) {
      const subject = subjectNumber(kind, record);
      for (let cell = bindings.firstCellOfSubject(subject); cell !== 0; cell = bindings.nextOfSubject(cell)) {
        for (let each = bindings.firstOfCell(cell); each !== 0; each = bindings.nextOfCell(each)) {
          granted.push({
            id: bindings.idOf(each),
            subject: table.idOf(record),
            scope: scopes.identityOf(bindings.scopeOf(cell)),
            role: roles.nameOf(bindings.roleOf(each)),
            isConditional: bindings.isConditional(each),
            holds: times.map((time) => bindings.holdsAt(each, time)),
          });
        }
      }
    }
  }
  return {
    org,
    revision,
    entities: entities.map((lines) => lines.toSorted()),
    labels: numbersOf(projects)
      .map((record) => `${projects.idOf(record)} ${JSON.stringify(labels.of(projects.idOf(record)))}`)
      .toSorted(),
    ofOrg: labels.of(org.id),
    permissions: numbersOf(roles.custom).map((role) => roles.permissionsOf(role)),
    edges: edges.toSorted(),
    granted: granted.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
  };
}

test("a snapshot has the contents of the tables, and nothing of another org", async () => {
  const database = await openTestDatabase();
  const org = await insertOrg(database, { members: 5_001, groups: 2_001 });
  await insertOrg(database, { members: 50, groups: 5 });
  const found = contentsOf(await readAll(database, org));
  expect([found.entities.map(({ length }) => length), found.edges.length, found.granted.length]).toEqual([
    // Includes the predefined role.
    [5_001, 2_001, 2_001, 2],
    5_001 + 1_000,
    2_001,
  ]);
  expect(found).toEqual(contentsOf(await loadAll(database, org)));
});

test.each([
  [5_000, 100],
  [4_999, 2_000],
  [1, 1],
])("reads an org of %d members and %d groups completely", async (members, groups) => {
  const database = await openTestDatabase();
  const org = await insertOrg(database, { members, groups });
  expect(contentsOf(await readAll(database, org))).toEqual(contentsOf(await loadAll(database, org)));
});

test("times do not depend on the time zone of the connection", async () => {
  const database = await openTestDatabase();
  const org = await insertOrg(database, { members: 20, groups: 20 });
  const expected = contentsOf(await readAll(database, org));
  // Until 1892, local mean time applied there, 44 minutes and 30 seconds behind UTC.
  const elsewhere = await database.reads.connection().execute(async (db) => {
    await sql`set timezone = 'Africa/Monrovia'`.execute(db);
    return readAll({ ...database, reads: db }, org);
  });
  expect(contentsOf(elsewhere)).toEqual(expected);
});

test("a missing org has no snapshot, and one with more rows than requested is too large", async () => {
  const database = await openTestDatabase();
  const counted = await insertOrg(database, { members: 30, groups: 10 });
  const uncounted = await insertOrg(database, { members: 30, groups: 10, counted: false });
  const missing = "00000000-0000-7000-8000-000000000000";
  const read = (org: string, maxRows: number) => readSmallSnapshot(database, org, options, maxRows);
  expect([await read(missing, 1000), await readSnapshot(database, missing, options)]).toEqual([undefined, undefined]);
  for (const org of [counted, uncounted]) {
    expect(await read(org, 30)).toBe("too large");
    expect(await read(org, 1000)).toMatchObject({ revision: sampleRevision(7) });
  }
});

test("a snapshot whose statements have seen two states is read again", async () => {
  const database = await openTestDatabase();
  const org = await insertOrg(database, { members: 3, groups: 1 });
  await createPartitions(database.writes);
  const lose = () =>
    loseSnapshot(() => write(database, { id: org }, (transaction) => addLogged(transaction, uniqueName("new"))));
  const first = lose();
  expect(await readSnapshot(database, org, options)).toBeUndefined();
  first.end();
  const second = lose();
  const snapshots = createSnapshots({ ...options, database, readConnections: 3, maxBytes: 1e9 });
  const snapshot = await snapshots.at(org, { revision: sampleRevision(7), readAt: performance.now() });
  second.end();
  expect([numberOf(snapshot.revision), snapshot.members.records.count()]).toEqual([9n, 5]);
  expect(contentsOf(snapshot)).toEqual(contentsOf(await loadAll(database, org)));
});

test("the event loop runs other work while a large org is read", async () => {
  const database = await openTestDatabase();
  const org = await insertOrg(database, { members: 8_000, groups: 100, counted: false });
  let [turns, isRead] = [0, false];
  const reading = readAll(database, org).finally(() => {
    isRead = true;
  });
  const take = (): void => {
    turns++;
    if (!isRead) setTimeout(take, 0);
  };
  take();
  await reading;
  // There are 8,000 members and as many memberships to read.
  expect(turns).toBeGreaterThan(10);
});

test("a snapshot that is held is advanced when it is released", async () => {
  const server = await sharedServer();
  const database = openDatabase({
    connection: { connectionString: server.databaseUrl },
    maxReadConnections: 2,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  onTestFinished(() => database.close());
  const { orgs, projects } = createApi("REST", server.url, server.operatorKey);
  const { id, path } = await orgs.createOrg({ org: { name: uniqueName("org") } });
  const snapshot = await readAll(database, id);
  const { revision } = snapshot;
  const project = await projects.createProject({ parentPath: path, project: { name: "web" } });
  const release = await snapshot.readHold.hold();
  let isAdvanced = false;
  const advancing = advanceSnapshot(database, snapshot).then((found) => (isAdvanced = found));
  // The entries are read once all of this has been answered, on connections that take turns.
  for (let read = 0; read < 5; read++) await sql`select pg_sleep(0.01)`.execute(database.reads);
  expect([isAdvanced, snapshot.revision, snapshot.projects.findById(project.id)]).toEqual([false, revision, 0]);
  release();
  expect(await advancing).toBe(true);
  expect(snapshot.revision).not.toBe(revision);
  expect(snapshot.projects.findById(project.id)).not.toBe(0);
});

test("a snapshot is advanced over large revisions by pages, without what it does not read of them", async () => {
  const opened = await openTestDatabase();
  const org = await insertOrg(opened, { members: 1, groups: 1 });
  await createPartitions(opened.writes);
  /** Names of statements, and how long the rows before and after are that they have read. */
  let read: [string, number][] = [];
  const database: Database = {
    ...opened,
    async readPrepared<Row>(name: string, text: string, values: readonly unknown[]) {
      const rows = await opened.readPrepared<Row & Partial<LogEntry>>(name, text, values);
      read.push([name, JSON.stringify(rows.map(({ before, after }) => [before, after])).length]);
      return rows;
    },
  };
  const labels = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`k${n}`.padEnd(60, "x"), "v".repeat(63)]));
  const record = (type: "Member" | "Project" | "Resource", count: number): Promise<string[]> =>
    write(opened, { id: org }, async ({ record: add }) => {
      const ids = Array.from({ length: count }, () => randomUUID());
      for (const id of ids) {
        const row = { id, name: id, state: "ACTIVE", delete_time: null, labels, description: "d".repeat(1_000) };
        add({ type, id, path: "/", containerId: id, before: row, after: row });
      }
      return Promise.resolve(ids);
    });
  const last = (ids: readonly string[]): string => required(ids.at(-1));

  // The log has the revision of the snapshot.
  await record("Resource", 1);
  const snapshot = await readAll(opened, org);
  await record("Resource", 100);
  const member = last(await record("Member", 100));
  expect(await advanceSnapshot(database, snapshot)).toBe(true);
  expect(snapshot.members.findById(member)).not.toBe(0);
  expect(read).toEqual([["read_changes", expect.toSatisfy((bytes: number) => bytes < 50_000)]]);

  read = [];
  const projects: string[] = [];
  for (const count of [100, 100, 100, 300]) projects.push(last(await record("Project", count)));
  expect(await advanceSnapshot(database, snapshot)).toBe(true);
  const head = await sql<{ revision: string }>`select revision from orgs where id = ${org}`.execute(opened.reads);
  expect(snapshot.revision).toBe(head.rows[0]?.revision);
  for (const id of projects) expect(snapshot.labels.of(id)).toEqual(labels);
  // The last revision does not fit on a page.
  expect(read.map(([name]) => name)).toEqual([
    "read_changes",
    "read_changes",
    "read_changes",
    "read_long_revision",
    "read_changes",
  ]);
  for (const [name, bytes] of read) if (name === "read_changes") expect(bytes).toBeLessThan(2_200_000);
});
