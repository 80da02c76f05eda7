// Tests what receivers that poll get (RFC 8936), over REST with the names of that RFC, and what their acknowledgements do.
import pMap from "p-map";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EventStream } from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import type { Caller } from "../../access/callers.ts";
import { scrape } from "../../metrics/scrape.ts";
import { uniqueName } from "../../support/api.ts";
import { type SignalPlace, openSignalPlace } from "./place.ts";

let place: SignalPlace;
let member: Caller;
beforeAll(async () => {
  place = await openSignalPlace({ metricsPort: 0 });
  member = await place.company.join("alice");
});
afterAll(() => place.close());

const onlyRevoked = { eventTypes: ["https://schemas.openid.net/secevent/caep/event-type/session-revoked"] };

const revokeTokens = async (times: number): Promise<void> => {
  for (let time = 0; time < times; time++) await place.company.api.members.revokeTokens({ path: member.path });
};

const now = { returnImmediately: true };

/** Polls, and returns the ids of the events in the order of the log. */
async function idsOf(stream: EventStream, request: object = now): Promise<string[]> {
  const { status, sets } = await place.poll(stream, request);
  expect(status).toBe(200);
  const verified = await Promise.all(Object.values(sets).map((token) => place.verify(token)));
  expect(verified.map(({ jti }) => jti)).toEqual(Object.keys(sets));
  return verified.toSorted((one, other) => ((one.txn ?? "") < (other.txn ?? "") ? -1 : 1)).map(({ jti }) => jti);
}

const inspect = ({ path }: EventStream) => place.owner.eventStreams.inspectEventStream({ path });

test("an event is returned until it is acknowledged, in whatever order", async () => {
  const stream = await place.createStream(onlyRevoked);
  expect(await place.poll(stream)).toEqual({ status: 200, sets: {}, moreAvailable: false });
  await revokeTokens(4);
  const [first = "", second = "", third = "", fourth = ""] = await idsOf(stream);
  expect(new Set([first, second, third, fourth]).size).toBe(4);
  const before = await place.poll(stream);
  expect(await place.poll(stream)).toEqual(before);
  expect(await idsOf(stream, { ack: [third], ...now })).toEqual([first, second, fourth]);
  expect(await idsOf(stream)).toEqual([first, second, fourth]);
  expect(await idsOf(stream, { ack: [first, "of-no-event"], ...now })).toEqual([second, fourth]);
  expect(await idsOf(stream, { ack: [second], ...now })).toEqual([fourth]);
  expect(await idsOf(stream, { ack: [fourth, fourth], ...now })).toEqual([]);
  const [row] = await place.sql.query("select acknowledged from event_streams where id = $1", [stream.id]);
  expect(row).toEqual({ acknowledged: [] });
  await revokeTokens(1);
  expect(await idsOf(stream)).toHaveLength(1);
});

test("maxEvents limits an answer, and 0 acknowledges only", async () => {
  const stream = await place.createStream(onlyRevoked);
  await revokeTokens(3);
  const two = await place.poll(stream, { maxEvents: 2, ...now });
  expect([Object.keys(two.sets).length, two.moreAvailable]).toEqual([2, true]);
  const none = await place.poll(stream, { maxEvents: 0, ack: Object.keys(two.sets) });
  expect(none).toEqual({ status: 200, sets: {}, moreAvailable: true });
  const last = await place.poll(stream, { maxEvents: 2, ...now });
  expect([Object.keys(last.sets).length, last.moreAvailable]).toEqual([1, false]);
  expect((await place.poll(stream, { maxEvents: -1 })).status).toBe(400);
  expect((await place.poll(stream, { ack: Array.from({ length: 1_001 }, String) })).status).toBe(400);
});

test("more than one answer can have is said to be available, and no more than there is", async () => {
  const stream = await place.createStream(onlyRevoked);
  const counted = async (request: object = now) => {
    const { sets, moreAvailable } = await place.poll(stream, request);
    return { ids: Object.keys(sets), count: Object.keys(sets).length, moreAvailable };
  };
  // Each waits for the lock of the org, so a few at a time.
  await pMap(Array.from({ length: 100 }), () => revokeTokens(1), { concurrency: 4 });
  expect(await counted()).toMatchObject({ count: 100, moreAvailable: false });
  await revokeTokens(1);
  const { ids, ...others } = await counted();
  expect(others).toEqual({ count: 100, moreAvailable: true });
  expect(await counted({ ack: ids, ...now })).toMatchObject({ count: 1, moreAvailable: false });
});

test("an event keeps its id when the stream gets other types", async () => {
  const { path } = await place.createStream();
  const stream = await place.owner.eventStreams.getEventStream({ path });
  const { path: parentPath } = await place.company.join(uniqueName("carol"));
  const before = await idsOf(stream);
  const { apiKeys } = await place.company.api.apiKeys.listApiKeys({ parentPath });
  await place.company.api.apiKeys.deleteApiKey({ path: apiKeys[0]?.path ?? "" });
  const all = await idsOf(stream, { ack: before, ...now });
  await place.owner.eventStreams.updateEventStream({ path, eventStream: onlyRevoked });
  const [revoked, ...others] = await idsOf(stream);
  expect(others).toEqual([]);
  expect(all).toHaveLength(2);
  expect(all).toContain(revoked);
});

test("an event that the receiver refuses is not returned again, and its stream says why", async () => {
  const stream = await place.createStream(onlyRevoked);
  await revokeTokens(2);
  const [first = "", second] = await idsOf(stream);
  const setErrs = { [first]: { err: "invalid_audience", description: "not mine" } };
  expect(await idsOf(stream, { setErrs, ...now })).toEqual([second]);
  expect((await inspect(stream)).error).toBe(`the receiver refused ${first.slice(0, 128)}: invalid_audience: not mine`);
});

test("a poll waits for an event, which it returns as soon as there is one", async () => {
  const stream = await place.createStream(onlyRevoked);
  const waiting = place.poll(stream, {});
  await revokeTokens(1);
  expect(Object.keys((await waiting).sets)).toHaveLength(1);
});

test("a caller that loses its access while it waits gets nothing", async () => {
  const { company } = place;
  const stream = await place.createStream(onlyRevoked);
  const permissions = ["iam.eventStreams.poll"];
  const role = await company.api.roles.createRole({
    parentPath: company.org.path,
    role: { name: uniqueName("role"), permissions },
  });
  const receiver = await company.join(uniqueName("receiver"));
  const binding = await company.bind(company.org.path, role.path, receiver);
  expect((await place.poll(stream, now, receiver.key)).status).toBe(200);
  const waiting = place.poll(stream, {}, receiver.key);
  await company.api.roleBindings.deleteRoleBinding({ path: binding });
  await revokeTokens(1);
  expect(await waiting).toMatchObject({ status: 403, sets: {} });
});

test("a paused stream has no events, and has them all when it is resumed", async () => {
  const { path } = await place.createStream(onlyRevoked);
  const { eventStreams } = place.owner;
  const stream = await eventStreams.pauseEventStream({ path });
  await revokeTokens(1);
  expect(await idsOf(stream)).toEqual([]);
  await eventStreams.resumeEventStream({ path });
  const { sets } = await place.poll(stream);
  const events = await Promise.all(Object.values(sets).map((token) => place.verify(token)));
  expect(events.map(({ type }) => type).toSorted()).toEqual([
    "caep/event-type/session-revoked",
    "ssf/event-type/stream-updated",
    "ssf/event-type/stream-updated",
  ]);
});

test("what is told of events is counted, but not where the stream is paused and acknowledges nothing", async () => {
  const stream = await place.createStream(onlyRevoked);
  const counts = async () => {
    const { valueOf } = await scrape(place.server.metricsUrl);
    return ["acknowledged", "refused"].map((outcome) => valueOf("tenantry_signals_total", { outcome }));
  };
  const [acknowledged = 0, refused = 0] = await counts();
  const told = { ack: ["first", "second"], setErrs: { third: { err: "invalid_audience" } }, ...now };
  await idsOf(stream, told);
  const after = [acknowledged + 2, refused + 1];
  expect(await counts()).toEqual(after);
  await place.owner.eventStreams.pauseEventStream({ path: stream.path });
  await idsOf(stream, told);
  expect(await counts()).toEqual(after);
});

test("a verification event is returned until it is acknowledged", async () => {
  const stream = await place.createStream();
  const { eventStreams } = place.owner;
  await eventStreams.verifyEventStream({ path: stream.path, state: "first" });
  const { jti } = await eventStreams.verifyEventStream({ path: stream.path, state: "second" });
  const { sets } = await place.poll(stream);
  expect(Object.keys(sets)).toEqual([jti]);
  expect((await place.verify(sets[jti] ?? "")).event).toEqual({ state: "second" });
  expect(await idsOf(stream, { ack: [jti], ...now })).toEqual([]);
});

test("calls at once acknowledge what each was told, and none of it comes back", async () => {
  const stream = await place.createStream(onlyRevoked);
  await revokeTokens(6);
  const ids = await idsOf(stream);
  await Promise.all(ids.map((jti) => place.poll(stream, { ack: [jti], maxEvents: 0 })));
  await expect.poll(async () => Object.keys((await place.poll(stream, { ack: ids, ...now })).sets)).toEqual([]);
});

test("what has no events is passed over, however much it is", async () => {
  const stream = await place.createStream(onlyRevoked);
  const { id, path: parentPath } = place.company.org;
  await place.owner.groups.createGroup({ parentPath, group: { name: uniqueName("group") } });
  await revokeTokens(1);
  expect(await idsOf(stream)).toHaveLength(1);
  await place.poll(stream, { ack: await idsOf(stream), maxEvents: 0 });
  await place.owner.groups.createGroup({ parentPath, group: { name: uniqueName("group") } });
  expect(await idsOf(stream)).toEqual([]);
  const [row] = await place.sql.query("select revision as delivered_revision from orgs where id = $1", [id]);
  expect((await inspect(stream)).deliveredRevision).toBe(row?.["delivered_revision"]);
});
