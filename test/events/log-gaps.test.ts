// Tests that a log with a gap, however short, is not followed over it: what is missing may be what a reader looks for.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EntryPosition, findStart, positionAfter, readPageAfter } from "../../src/events/watch/store.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { changeOf, isSynced, watchLog } from "../support/watch-log.ts";

let server: TestServer;
let sql: SqlClient;
let database: Database;
beforeAll(async () => {
  // The log of the shared server is to stay whole.
  server = await startTestServer();
  sql = await openSqlClient(server.databaseUrl);
  database = openDatabase({
    connection: { connectionString: server.databaseUrl },
    maxReadConnections: 2,
    maxWriteConnections: 2,
    onConnectionError: () => undefined,
  });
});
afterAll(async () => {
  await database.close();
  await sql.close();
  await server.close();
});

const ended = { code: "Unavailable", reason: "STREAM_ENDED", metadata: { ended_by: "LOG" } };

/** Creates an org with revisions of one group each, and one of three groups before the last. */
async function createLog() {
  const api = createApi("gRPC", server.url, server.operatorKey);
  const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const create = async () =>
    (await api.groups.createGroup({ parentPath: org.path, group: { name: uniqueName("group") } })).etag;
  const revisions = [await create(), await create(), await create()];
  const requests = Array.from({ length: 3 }, () => ({ group: { name: uniqueName("group") } }));
  const { groups } = await api.groups.batchCreateGroups({ parentPath: org.path, requests });
  revisions.push(groups[0]?.etag ?? "", await create());
  return { api, org, revisions };
}

type Log = Awaited<ReturnType<typeof createLog>>;

const remove = ({ org }: Log, revision: string | undefined, position?: number) =>
  sql.query("delete from changes where org_id = $1 and revision = $2 and ($3::int is null or position = $3)", [
    org.id,
    revision,
    position ?? null,
  ]);

const gaps: readonly (readonly [string, (log: Log) => Promise<unknown>, number, number])[] = [
  ["a revision", (log) => remove(log, log.revisions[2]), 1, 2],
  ["two revisions", async (log) => [await remove(log, log.revisions[1]), await remove(log, log.revisions[2])], 0, 1],
  ["the first entry of a revision", (log) => remove(log, log.revisions[3], 0), 2, 3],
  ["an entry within a revision", (log) => remove(log, log.revisions[3], 1), 2, 4],
];

describe.each(gaps)("without %s, the log", (_name, make, last, changes) => {
  test("ends streams that resume before, after what leads there", async () => {
    const log = await createLog();
    const { api, org, revisions } = log;
    const [afterRevision = ""] = revisions;
    await make(log);
    const watch = watchLog(api, { parentPath: org.path, afterRevision });
    expect(await failureOf(watch.ended)).toMatchObject(ended);
    expect(watch.changes()).toHaveLength(changes - 1);
    expect(watch.resumeRevision() || afterRevision).toBe(revisions[last]);
  });

  test.each(["one", "all"] as const)("has pages for %s that say so", async (of) => {
    const log = await createLog();
    const { org, revisions } = log;
    const [revision = ""] = revisions;
    await make(log);
    const { time } = await findStart(database, org.id, revision);
    let position: EntryPosition = { revision, since: time ?? "" };
    const page = await readPageAfter(database, org.id, position, of);
    expect(page?.hasGap).toBe(true);
    for (const logged of page?.revisions ?? []) position = positionAfter(logged);
    const again = await readPageAfter(database, org.id, position, of);
    expect(again).toMatchObject({ revisions: [], hasGap: true });
  });
});

test("a whole log has no gap on its pages, and the stream goes on", async () => {
  const { api, org, revisions } = await createLog();
  const [revision = ""] = revisions;
  const { time } = await findStart(database, org.id, revision);
  const page = await readPageAfter(database, org.id, { revision, since: time ?? "" }, "all");
  expect(page).toMatchObject({ hasGap: false, hasMore: false });
  const watch = watchLog(api, { parentPath: org.path, afterRevision: revision });
  await watch.until(isSynced);
  expect(watch.changes()).toHaveLength(6);
  watch.close();
});

test("a stream that is at the head ends when a revision is lost, also if others follow at once", async () => {
  const { api, org } = await createLog();
  await sql.query(`create function lose() returns trigger language plpgsql as $$
    begin return case when new.resource_path like '%/groups/lost' then null else new end; end $$`);
  await sql.query("create trigger lose before insert on changes for each row execute function lose()");
  const watch = watchLog(api, { parentPath: org.path });
  await watch.until(isSynced);
  const create = (name: string) => api.groups.createGroup({ parentPath: org.path, group: { name } });
  await Promise.all([create("lost"), create("next")]);
  expect(await failureOf(watch.ended)).toMatchObject(ended);
  expect(watch.received.map((message) => changeOf(message)?.resourcePath ?? "")).not.toContain("/groups/lost");
});
