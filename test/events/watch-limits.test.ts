// Tests what bounds streams of changes: how many are open, how much waits for a slow reader, and the end of the server.
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { WatchChangesResponseSchema } from "../../gen/iam/v1alpha/change_pb.ts";
import { createLogTail } from "../../src/events/watch/log-tail.ts";
import type { TailDependencies } from "../../src/events/watch/tail-state.ts";
import { createBytesOf } from "../../src/events/watch/responses.ts";
import { createStreamQueue } from "../../src/events/watch/stream-queue.ts";
import { createWatcher } from "../../src/events/watch/watcher.ts";
import type { Caller } from "../../src/identity/caller.ts";
import { createApi } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { openSqlClient } from "../support/sql.ts";
import { startTestServer } from "../support/test-server.ts";
import { isAbout, isSynced, watchLog } from "../support/watch-log.ts";

test("streams are bounded, end with their server, and resume elsewhere, unless the log has lost their revision", async () => {
  const other = await startTestServer();
  onTestFinished(() => other.close());
  const server = await startTestServer({ databaseUrl: other.databaseUrl, streamsPerCaller: 2 });
  let isOpen = true;
  onTestFinished(() => (isOpen ? server.close() : undefined));
  const [near, far] = [server, other].map(({ url }) => createApi("gRPC", url, other.operatorKey)) as [
    ReturnType<typeof createApi>,
    ReturnType<typeof createApi>,
  ];
  const { path: parentPath } = await near.orgs.createOrg({ org: { name: "acme" } });
  const [first, second] = [watchLog(near, { parentPath }), watchLog(near, { parentPath })];
  await first.until(isSynced);
  await second.until(isSynced);
  expect(await failureOf(watchLog(near, { parentPath }).ended)).toMatchObject({
    code: "ResourceExhausted",
    reason: "RATE_LIMITED",
    metadata: { limit: "caller-streams" },
  });
  first.close();
  // The server learns later that the first one has gone.
  await expect
    .poll(async () => {
      const third = watchLog(near, { parentPath });
      const isSent = await third.until(isSynced).then(
        () => true,
        () => false,
      );
      third.close();
      return isSent;
    })
    .toBe(true);

  const closing = server.close();
  isOpen = false;
  const end = await failureOf(second.ended);
  expect(end).toMatchObject({ code: "Unavailable", reason: "STREAM_ENDED", metadata: { ended_by: "SHUTDOWN" } });
  await closing;

  const { etag: next } = await far.groups.createGroup({ parentPath, group: { name: "devs" } });
  const resumed = watchLog(far, { parentPath, afterRevision: second.resumeRevision() });
  await resumed.until(isSynced);
  expect(resumed.changes().map(({ revision }) => revision)).toEqual([next]);
  resumed.close();

  const sql = await openSqlClient(other.databaseUrl);
  await sql.query("delete from changes where revision < $1 and org_id = (select id from orgs where name = 'acme')", [
    next,
  ]);
  await sql.close();
  const afterRevision = second.resumeRevision();
  expect(await failureOf(watchLog(far, { parentPath, afterRevision }).ended)).toMatchObject({
    code: "OutOfRange",
    reason: "REVISION_EXPIRED",
    metadata: { oldest_revision: next },
  });
});

test("over REST, events have the revisions as ids, and Last-Event-ID resumes", async () => {
  const server = await startTestServer();
  onTestFinished(() => server.close());
  const api = createApi("gRPC", server.url, server.operatorKey);
  const { path: parentPath, etag } = await api.orgs.createOrg({ org: { name: "acme" } });
  const { etag: next } = await api.groups.createGroup({ parentPath, group: { name: "devs" } });
  const headers = { authorization: `Bearer ${server.operatorKey}`, accept: "text/event-stream", "last-event-id": etag };
  const abort = new AbortController();
  // The address is that of the first request of an EventSource.
  const url = `${server.url}/iam/v1alpha/orgs/acme/changes:watch?after_revision=${next}`;
  const { body, headers: answered } = await fetch(url, { headers, signal: abort.signal });
  expect(answered.get("content-type")).toContain("text/event-stream");
  let text = "";
  for await (const part of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.includes('"synced":true')) break;
  }
  abort.abort();
  const events = text.split("\n\n").filter((event) => event !== "");
  expect(events[0]).toMatch(new RegExp(`^id: ${etag}\ndata: .*"checkpoint"`));
  expect(events[1]).toMatch(new RegExp(`^id: ${next}\ndata: .*"/orgs/acme/groups/devs"`));
});

test.each([
  ["2,000 messages", 2_000, 10],
  ["16 MiB of messages", 4, 4_194_304],
])("a reader for which %s wait is told to resume, and what waits for it is forgotten", async (_what, count, bytes) => {
  const caller = { orgId: "org", memberId: "member", credentialId: "key", clientId: "client" } as unknown as Caller;
  const watcher = createWatcher("org", { states: true, proof: false }, caller, () => Promise.resolve(caller));
  const message = create(WatchChangesResponseSchema, {});
  const send = () => watcher.send([message], () => bytes);
  for (let index = 0; index < count; index++) send();
  expect(send).toThrow("the caller reads too slowly: too many changes wait for it; call again");
  expect(watcher.queue.isEmpty()).toBe(true);
  // A message that is larger than all that may wait is sent to a reader that keeps up.
  const large = create(WatchChangesResponseSchema, { resumeRevision: "x".repeat(20_000_000) });
  const bytesOf = createBytesOf();
  for (let index = 0; index < 2; index++) {
    watcher.send([large], bytesOf);
    expect(await watcher.queue.take()).toEqual([large]);
  }
  watcher.send([large], bytesOf);
  expect(() => watcher.send([large], bytesOf)).toThrow("reads too slowly");
});

test("a stream follows an org that had not changed for hours", async () => {
  const server = await startTestServer();
  onTestFinished(() => server.close());
  const api = createApi("gRPC", server.url, server.operatorKey);
  const { path: parentPath } = await api.orgs.createOrg({ org: { name: "acme" } });
  // Says that the log was read, so the stream does not.
  await api.changes.listChanges({ parentPath });
  const sql = await openSqlClient(server.databaseUrl);
  await sql.query(
    `update changes set time = greatest(time - interval '2 hours', date_trunc('month', time, 'UTC'))
      where org_id = (select id from orgs where name = 'acme')`,
  );
  await sql.close();
  const watch = watchLog(api, { parentPath });
  await watch.until(isSynced);
  await api.groups.createGroup({ parentPath, group: { name: "devs" } });
  await watch.until(isAbout("devs"));
  watch.close();
});

test("the snapshot of an org is not read for a stream whose caller has left", async () => {
  const caller = { orgId: "org", memberId: "member", credentialId: "key", clientId: "client" } as unknown as Caller;
  const watcher = createWatcher("org", { states: true, proof: false }, caller, () => Promise.resolve(caller));
  let reads = 0;
  const read = (): Promise<undefined> => {
    reads++;
    return Promise.resolve(undefined);
  };
  const tail = createLogTail("org", { snapshots: { readOwn: read } } as unknown as TailDependencies);
  watcher.queue.end(new Error("gone"));
  const joined = tail.join(watcher, () => Promise.reject(new Error("not reached")));
  expect(tail.isJoined()).toBe(true);
  await expect(joined).rejects.toThrow("gone");
  expect([tail.isJoined(), reads]).toEqual([false, 0]);
});

test("a reader takes some of what waits at a time", async () => {
  const queue = createStreamQueue<number>({ items: 100, bytes: 1_000 });
  for (let item = 0; item < 51; item++) queue.push(item, 10);
  expect(await queue.take()).toHaveLength(50);
  expect(queue.isEmpty()).toBe(false);
  expect(await queue.take()).toEqual([50]);
});

test("a queue gives what waits before the error with which it has ended", async () => {
  const queue = createStreamQueue<number>({ items: 2, bytes: 1_000 });
  expect([queue.push(1, 10), queue.push(2, 10), queue.push(3, 10)]).toEqual([true, true, false]);
  queue.end(new Error("over"));
  queue.end(new Error("over again"));
  expect(queue.push(4, 10)).toBe(true);
  expect(await queue.take()).toEqual([1, 2]);
  await expect(queue.take()).rejects.toThrow(/^over$/);
});
