// Tests that revisions with many large entries are read in parts, whose sizes their author does not choose.
import { toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Member } from "../../gen/iam/v1alpha/member_pb.ts";
import { Change_View, WatchChangesResponseSchema } from "../../gen/iam/v1alpha/change_pb.ts";
import { openDatabase } from "../../src/database/database.ts";
import { type EntryPosition, findStart, positionAfter, readPageAfter } from "../../src/events/watch/store.ts";
import { required } from "../../src/errors/required.ts";
import { openCompany } from "../access/callers.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { sharedServer } from "../support/shared-server.ts";
import { changeOf, isSynced, watchLog } from "../support/watch-log.ts";

const labels = Object.fromEntries(
  Array.from({ length: 64 }, (_, index) => [`k${index}`.padEnd(60, "x"), "v".repeat(63)]),
);
const texts = { description: "\u{1f600}".repeat(2_048), displayName: "\u{1f600}".repeat(512) };
/** What the rows before and after on a page for one stream and for all have, and what one entry more may have. */
const oneBytes = 131_072;
const allBytes = 1_048_576;
const ofOneEntry = 40_000;

/** Creates so many members with much text. */
async function createMany({ members }: Pick<Api, "members">, parentPath: string, count: number): Promise<Member[]> {
  const created: Member[] = [];
  while (created.length < count) {
    // What fits into the body of a call.
    const requests = Array.from({ length: Math.min(40, count - created.length) }, () => ({
      member: { name: uniqueName("m"), labels, ...texts },
    }));
    created.push(...(await members.batchCreateMembers({ parentPath, requests })).members);
  }
  return created;
}

/** An org, and the revisions before and after one that deletes many members with many labels. */
async function openLarge() {
  const server = await sharedServer();
  const { api, org } = await openCompany("gRPC", server);
  const parentPath = org.path;
  const created = await createMany(api, parentPath, 460);
  const view = Change_View.PROVED;
  const live = watchLog(api, { parentPath, view });
  await live.until(isSynced);
  const stopped = api.changes.watchChanges({ parentPath, view })[Symbol.asyncIterator]();
  await stopped.next();
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
  return { api, org, parentPath, live, stopped, created, before, after, database, read };
}

let large: Awaited<ReturnType<typeof openLarge>>;
beforeAll(async () => {
  large = await openLarge();
});
afterAll(() => large.database.close());

test("a stream at the head of the log gets all of a revision that is more than may wait, and that of a reader who stops ends", async () => {
  const { live, stopped, created, before, after } = large;
  await live.until(({ resumeRevision }) => resumeRevision === after);
  live.close();
  const sent = live.received.filter((message) => changeOf(message)?.method.endsWith("BatchDeleteMembers") === true);
  expect(sent.map((message) => changeOf(message)?.position)).toEqual(created.map((_, index) => index));
  const revision = changeOf(required(sent[0]))?.revision;
  expect(sent.map(({ resumeRevision }) => resumeRevision)).toEqual([...created.slice(1).map(() => before), revision]);
  const bytes = sent.reduce((sum, message) => sum + toBinary(WatchChangesResponseSchema, message).length, 0);
  expect(bytes).toBeGreaterThan(16_777_216);
  const readRest = async (): Promise<never> => {
    while ((await stopped.next()).done !== true);
    throw new Error("the stream has ended without an error");
  };
  // It is told to resume, or cut if it has not read that in time, as on a busy machine.
  expect([
    ["Unavailable", "STREAM_ENDED"],
    ["Canceled", undefined],
  ]).toContainEqual(await failureOf(readRest()).then(({ code, reason }) => [code, reason]));
});

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

test.each([
  ["one", oneBytes],
  ["all", allBytes],
] as const)(
  "each page for %s has as many bytes of a large revision as of small ones, and the next one goes on within it",
  async (of, most) => {
    const { org, before, created, database, read } = large;
    const { time } = await findStart(database, org.id, before);
    read.length = 0;
    let position: EntryPosition = { revision: before, since: time ?? "" };
    const entries: [string, number][] = [];
    let pages = 0;
    for (let hasMore = true; hasMore; pages++) {
      const page = await readPageAfter(database, org.id, position, of);
      for (const logged of page?.revisions ?? []) {
        entries.push(...logged.entries.map((entry): [string, number] => [entry.revision, entry.position]));
        position = positionAfter(logged);
      }
      hasMore = page?.hasMore === true;
    }
    const [first] = entries;
    const ofLarge = entries.slice(0, created.length);
    expect(ofLarge).toEqual(created.map((_, index) => [first?.[0], index]));
    expect(read).toHaveLength(pages);
    expect(pages).toBeGreaterThan(3);
    for (const [name, bytes] of read) expect(bytes, name).toBeLessThan(most + ofOneEntry);
  },
);

test("who loses the right in a revision that is sent in parts gets none of them", async () => {
  const server = await sharedServer();
  const company = await openCompany("gRPC", server);
  const { api, org } = company;
  const parentPath = org.path;
  await company.joinAs("owner");
  const watcher = await company.join(uniqueName("watcher"));
  await company.bind(parentPath, "owner", watcher);
  const paths = (await createMany(api, parentPath, 90)).map(({ path }) => path);
  const watch = watchLog(createApi("gRPC", server.url, watcher.key), { parentPath });
  await watch.until(isSynced);
  await api.members.batchDeleteMembers({ parentPath, paths: [...paths, watcher.path] });
  expect(await failureOf(watch.ended)).toMatchObject({ code: "Unauthenticated" });
  expect(watch.received.filter((message) => changeOf(message)?.method.endsWith("BatchDeleteMembers"))).toEqual([]);
});
