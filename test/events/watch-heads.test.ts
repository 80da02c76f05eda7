// Tests the signed ends of the log that streams with proofs send.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Change_View, type ChangesHead, type WatchChangesResponse } from "../../gen/iam/v1alpha/change_pb.ts";
import { readHead } from "../../src/changes/signed-head.ts";
import { required } from "../../src/errors/required.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { isSynced, watchLog } from "../support/watch-log.ts";

let server: TestServer;
let api: ReturnType<typeof createApi>;
const parentPath = "orgs/acme";
beforeAll(async () => {
  server = await startTestServer({}, { checkpointMs: 250 });
  api = createApi("gRPC", server.url, server.operatorKey);
  await api.orgs.createOrg({ org: { name: "acme" } });
});
afterAll(() => server.close());

const createGroup = () => api.groups.createGroup({ parentPath, group: { name: uniqueName("group") } });

const headOf = ({ event }: WatchChangesResponse): ChangesHead | undefined =>
  event.case === "checkpoint" ? event.value.head : undefined;

/** Returns the head of a checkpoint, after it was verified with the published keys. */
async function verify(message: WatchChangesResponse): Promise<ChangesHead> {
  const head = required(headOf(message));
  const keys = await (await fetch(`${server.url}/.well-known/log-keys.json`)).json();
  const said = await readHead(head.jws, keys as Parameters<typeof readHead>[1]);
  expect(said).toMatchObject({ revision: message.resumeRevision, hash: head.hash, isOfCustomer: false });
  expect([head.revision, head.orgPath]).toEqual([message.resumeRevision, `/orgs/@${said.logId}`]);
  return head;
}

test("a stream with proofs has the signed end of the log when it is synced, and whenever it is silent", async () => {
  await createGroup();
  // That the log was read is in the log, so not by the stream.
  await api.changes.listChanges({ parentPath });
  const watch = watchLog(api, { parentPath, view: Change_View.PROVED });
  const synced = await watch.until(isSynced);
  const first = await verify(synced);
  expect(await api.changes.getChangesHead({ parentPath })).toMatchObject({
    hash: first.hash,
    revision: first.revision,
  });
  const { etag } = await createGroup();
  const later = await watch.until((message) => isSynced(message) && message.resumeRevision === etag);
  const proofs = watch.changes().map(({ proof }) => proof?.hash);
  expect((await verify(later)).hash).toBe(proofs.at(-1));
  watch.close();
});

test("a stream that is resumed with proofs has the signed end of what it was sent", async () => {
  const { etag: before } = await createGroup();
  await createGroup();
  const watch = watchLog(api, { parentPath, view: Change_View.PROVED, afterRevision: before });
  const synced = await watch.until(isSynced);
  expect(headOf(required(watch.received[0]))).toBeUndefined();
  expect((await verify(synced)).hash).toBe(watch.changes().at(-1)?.proof?.hash);
  watch.close();
});

test("a stream with proofs that is never silent has signed ends as well", async () => {
  const watch = watchLog(api, { parentPath, view: Change_View.PROVED });
  await watch.until(isSynced);
  const over = new AbortController();
  const writing = (async () => {
    while (!over.signal.aborted) await createGroup();
  })();
  // A head may come before the first change.
  const isAfterChange = (message: WatchChangesResponse): boolean =>
    watch.received.slice(0, watch.received.indexOf(message)).some(({ event }) => event.case === "change");
  const next = await watch.until((message) => headOf(message) !== undefined && isAfterChange(message));
  over.abort();
  await writing;
  const index = watch.received.indexOf(next);
  const changes = watch.received.slice(0, index).flatMap(({ event }) => (event.case === "change" ? [event.value] : []));
  expect((await verify(next)).hash).toBe(changes.at(-1)?.proof?.hash);
  watch.close();
});

test("a stream without proofs has no signed ends", async () => {
  const watch = watchLog(api, { parentPath });
  const synced = await watch.until(isSynced);
  const silent = await watch.until((message) => isSynced(message) && message !== synced);
  expect([headOf(synced), headOf(silent)]).toEqual([undefined, undefined]);
  watch.close();
});
