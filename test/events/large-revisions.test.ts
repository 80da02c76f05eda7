// Tests that revisions with many large entries are read in parts, whose sizes their author does not choose.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { type EntryPosition, findStart, readPageAfter, readRevisionsAfter } from "../../src/events/watch/store.ts";
import { openCompany } from "../access/callers.ts";
import { uniqueName } from "../support/api.ts";
import { sharedServer } from "../support/shared-server.ts";
import { changeOf, isSynced, watchLog } from "../support/watch-log.ts";

const labels = Object.fromEntries(
  Array.from({ length: 64 }, (_, index) => [`k${index}`.padEnd(60, "x"), "v".repeat(63)]),
);
/** What the rows before and after on a page for one stream have, with one more entry. */
const mostBytes = 131_072 + 20_000;

/** An org, and the revisions before and after one that deletes many members with many labels. */
async function openLarge() {
  const server = await sharedServer();
  const { api, org } = await openCompany("gRPC", server);
  const parentPath = org.path;
  const requests = Array.from({ length: 100 }, () => ({ member: { name: uniqueName("m"), labels } }));
  const { members: created } = await api.members.batchCreateMembers({ parentPath, requests });
  const { etag: before } = await api.groups.createGroup({ parentPath, group: { name: "before" } });
  await api.members.batchDeleteMembers({ parentPath, paths: created.map(({ path }) => path) });
  const { etag: after } = await api.groups.createGroup({ parentPath, group: { name: "after" } });
  const options = { maxReadConnections: 2, maxWriteConnections: 1, onConnectionError: () => {} };
  const opened = openDatabase({ connection: { connectionString: server.databaseUrl }, ...options });
  /** How long the rows before and after are that a statement has read, by its name. */
  const read: [string, number][] = [];
  const database: typeof opened = {
    ...opened,
    async readPrepared<Row>(name: string, text: string, values: readonly unknown[]) {
      const rows = await opened.readPrepared<Row & { readonly before?: unknown; readonly after?: unknown }>(
        name,
        text,
        values,
      );
      read.push([name, JSON.stringify(rows.map((row) => [row.before, row.after])).length]);
      return rows;
    },
  };
  return { api, org, parentPath, created, before, after, database, read };
}

let large: Awaited<ReturnType<typeof openLarge>>;
beforeAll(async () => {
  large = await openLarge();
});
afterAll(() => large.database.close());

test("a stream that resumes before a large revision gets all of it, and is resumed before it until it has the last change", async () => {
  const { api, parentPath, created, before, after } = large;
  const watch = watchLog(api, { parentPath, afterRevision: before });
  await watch.until(isSynced);
  watch.close();
  const sent = watch.received.flatMap((message) => {
    const change = changeOf(message);
    return change === undefined ? [] : [{ ...change, resume: message.resumeRevision }];
  });
  const ofLarge = sent.slice(0, -1);
  expect(ofLarge.map(({ resourceId }) => resourceId).toSorted()).toEqual(created.map(({ id }) => id).toSorted());
  expect(ofLarge.map(({ position }) => position)).toEqual(created.map((_, index) => index));
  const revision = ofLarge[0]?.revision;
  expect(ofLarge.map(({ resume }) => resume)).toEqual([...ofLarge.slice(1).map(() => before), revision]);
  expect(sent.at(-1)).toMatchObject({ revision: after, resume: after });
});

test("each page for a stream has as many bytes of a large revision as of small ones, and the next one goes on within it", async () => {
  const { org, before, database, read } = large;
  const { time } = await findStart(database, org.id, before);
  let position: EntryPosition = { revision: before, since: time ?? "" };
  const entries: string[] = [];
  let pages = 0;
  for (let hasMore = true; hasMore; pages++) {
    const page = await readPageAfter(database, org.id, position);
    for (const { revision, entries: some, isComplete } of page?.revisions ?? []) {
      entries.push(...some.map((entry) => `${entry.revision} ${entry.position}`));
      const since = some[0].time_text;
      position = isComplete ? { revision, since } : { revision, since, position: some.at(-1)?.position ?? 0 };
    }
    hasMore = page?.hasMore === true;
  }
  const whole = await readRevisionsAfter(database, org.id, { revision: before, since: time ?? "" });
  const ofWhole = (whole?.revisions ?? []).flatMap((each) =>
    each.entries.map((entry) => `${entry.revision} ${entry.position}`),
  );
  expect(ofWhole.length).toBeGreaterThanOrEqual(101);
  expect(entries.slice(0, ofWhole.length)).toEqual(ofWhole);
  const ofPages = read.filter(([name]) => name !== "follow_log" && name !== "follow_long_revision");
  expect(ofPages).toHaveLength(pages);
  expect(pages).toBeGreaterThan(10);
  for (const [name, bytes] of ofPages) expect(bytes, name).toBeLessThan(mostBytes);
});
