// Tests what receivers of pushes get (RFC 8935), in which order, and what becomes of what they do not accept.
import { decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type EventStream,
  EventStream_DisabledReason as Reason,
  EventStream_State as State,
} from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import { required } from "../../../src/errors/required.ts";
import type { Caller } from "../../access/callers.ts";
import { uniqueName } from "../../support/api.ts";
import { type Answer, type Receiver, answerWith, startReceiver } from "../webhooks/receiver.ts";
import { type SignalPlace, accepted, openSignalPlace, readConfiguration, verifyAll } from "./place.ts";

let place: SignalPlace;
let member: Caller;
let memberId: string;
beforeAll(async () => {
  place = await openSignalPlace();
  member = await place.company.join("alice");
  ({ id: memberId } = await place.company.api.members.getMember({ path: member.path }));
});
afterAll(() => place.close());

const pushTo = (receiver: Pick<Receiver, "url">, fields = {}): Promise<EventStream> =>
  place.createStream({ pushUrl: receiver.url, eventTypes: [sessionRevoked], ...fields });

const sessionRevoked = "https://schemas.openid.net/secevent/caep/event-type/session-revoked";

/** Ends all tokens of a member, which is one event of the type that the streams here send. */
const revokeTokens = async (times = 1): Promise<void> => {
  for (let time = 0; time < times; time++) await place.company.api.members.revokeTokens({ path: member.path });
};

const inspect = ({ path }: EventStream) => place.owner.eventStreams.inspectEventStream({ path });

const stateOf = async ({ path }: EventStream) => {
  const { state, disabledReason } = await place.owner.eventStreams.getEventStream({ path });
  return [state, disabledReason];
};

const resume = ({ path }: EventStream) => place.owner.eventStreams.resumeEventStream({ path });

test("each event is a request with a token that jose verifies by what the service publishes", async () => {
  const receiver = await startReceiver(accepted);
  const stream = await pushTo(receiver, { pushAuthorization: "Bearer of-the-receiver" });
  await revokeTokens();
  await expect.poll(() => receiver.received.length).toBe(1);
  const { headers, body } = required(receiver.received[0]);
  expect(headers).toMatchObject({
    "content-type": "application/secevent+jwt",
    accept: "application/json",
    authorization: "Bearer of-the-receiver",
  });
  const { issuer } = await readConfiguration(place.server.url);
  const { changes } = await place.owner.changes.listChanges({
    parentPath: place.company.org.path,
    filter: 'resource_type = "Member"',
    pageSize: 1,
  });
  const [change] = changes;
  const verified = await place.verify(body);
  expect(verified).toEqual({
    jti: expect.stringContaining(stream.id) as string,
    iat: Number(change?.time?.seconds),
    txn: change?.revision,
    subject: { format: "iss_sub", iss: issuer, sub: memberId },
    type: "caep/event-type/session-revoked",
    event: {
      event_timestamp: verified.iat,
      initiating_entity: "admin",
      reason_admin: { en: "all tokens of the member were revoked" },
    },
  });
  expect(decodeProtectedHeader(body)).toEqual({ alg: "RS256", typ: "secevent+jwt", kid: expect.any(String) as string });
  expect(body).not.toContain("alice");
  const [head, claims] = body.split(".");
  await expect(place.verify(`${head}.${claims}.${"A".repeat(342)}`)).rejects.toThrow("signature verification failed");
  await expect.poll(() => inspect(stream)).toMatchObject({ attempts: 0, error: "" });
});

test("what fails is sent again, the same and before anything later, until the receiver accepts it", async () => {
  const receiver = await startReceiver(answerWith(400, '{"err": "invalid_key", "description": "no such kid"}'));
  const stream = await pushTo(receiver);
  await revokeTokens(3);
  const failed = {
    attempts: 1,
    statusCode: 400,
    error: "the receiver answered 400, not 202: invalid_key: no such kid",
  };
  await expect.poll(() => inspect(stream)).toMatchObject(failed);
  const { failingSince, nextAttemptTime } = await inspect(stream);
  expect(Number(nextAttemptTime?.seconds)).toBeGreaterThan(Number(failingSince?.seconds));
  await place.passWait(stream);
  await expect.poll(() => receiver.received.length).toBe(2);
  receiver.answer = accepted;
  await place.passWait(stream);
  await expect.poll(() => receiver.received.length).toBe(5);
  const events = await verifyAll(place, receiver.received);
  const [first, second, third] = [...new Set(events.map(({ jti }) => jti))];
  expect(events.map(({ jti }) => jti)).toEqual([first, first, first, second, third]);
  expect(receiver.received[0]?.body).toBe(receiver.received[2]?.body);
  expect(events.map(({ txn = "" }) => txn)).toEqual(events.map(({ txn = "" }) => txn).toSorted());
  await expect.poll(() => inspect(stream)).toMatchObject({ attempts: 0, error: "", statusCode: 0 });
});

const silent: Answer = () => {};
const slowAndHuge: Answer = (response) => {
  response.writeHead(202);
  response.write("x".repeat(4_000_000));
};

test.each([
  ["200", answerWith(200), "the receiver answered 200, not 202"],
  ["204", answerWith(204), "the receiver answered 204, not 202"],
  ["a page", answerWith(503, "<html>not now</html>"), "the receiver answered 503, not 202: <html>not now</html>"],
  [
    "a redirect",
    ((response) => void response.writeHead(307, { location: "/" }).end()) satisfies Answer,
    "the receiver answered 307",
  ],
  ["a cut connection", ((response) => void response.destroy()) satisfies Answer, ""],
])("%s is no acceptance", async (_title, answer, error) => {
  const receiver = await startReceiver(answer);
  const stream = await pushTo(receiver);
  await revokeTokens();
  await expect.poll(async () => (await inspect(stream)).failingSince !== undefined).toBe(true);
  expect((await inspect(stream)).error).toContain(error);
  receiver.answer = accepted;
  await place.passWait(stream);
  await expect.poll(() => receiver.received.length).toBe(2);
});

test("an acceptance with a huge body is one, and a receiver that is silent keeps others from nothing", async () => {
  const [quiet, huge, quick] = [
    await startReceiver(silent),
    await startReceiver(slowAndHuge),
    await startReceiver(accepted),
  ];
  const streams = await Promise.all([quiet, huge, quick].map((receiver) => pushTo(receiver)));
  await revokeTokens(2);
  await expect.poll(() => quick.received.length).toBe(2);
  await expect.poll(() => huge.received.length).toBe(2);
  await expect.poll(() => quiet.received.length).toBe(1);
  expect(await stateOf(required(streams[0]))).toEqual([State.ACTIVE, Reason.DISABLED_REASON_UNSPECIFIED]);
});

test("the status 410 disables a stream, which sends nothing until it is resumed, and then goes on where it was", async () => {
  const receiver = await startReceiver(answerWith(410));
  const stream = await pushTo(receiver);
  await revokeTokens();
  await expect.poll(() => stateOf(stream)).toEqual([State.DISABLED, Reason.GONE]);
  receiver.answer = accepted;
  await revokeTokens();
  await place.passWait(stream);
  // Another stream gets what is later: that one would have, too.
  const other = await startReceiver(accepted);
  await pushTo(other);
  await revokeTokens();
  await expect.poll(() => other.received.length).toBe(1);
  expect(receiver.received.length).toBe(1);
  await resume(stream);
  await expect.poll(() => receiver.received.length).toBe(6);
  const events = await verifyAll(place, receiver.received);
  expect(events.slice(1).map(({ type, event }) => [type, event["status"]])).toEqual([
    ["caep/event-type/session-revoked", undefined],
    ["ssf/event-type/stream-updated", "disabled"],
    ["caep/event-type/session-revoked", undefined],
    ["caep/event-type/session-revoked", undefined],
    ["ssf/event-type/stream-updated", "enabled"],
  ]);
  expect(events[0]?.jti).toBe(events[1]?.jti);
});

test("the answer of a receiver may have what PostgreSQL does not store", async () => {
  const receiver = await startReceiver(
    answerWith(410, String.raw`{"err": "gone\u0000", "description": "\u0000\ud800"}`),
  );
  const stream = await pushTo(receiver);
  await revokeTokens();
  await expect.poll(() => stateOf(stream)).toEqual([State.DISABLED, Reason.GONE]);
  expect((await inspect(stream)).error).toBe("the receiver answered 410, not 202: gone\ufffd: \ufffd\ufffd");
});

test("a receiver that is down for three days has its stream disabled, and gets all of it when it is resumed", async () => {
  const receiver = await startReceiver(answerWith(500));
  const stream = await pushTo(receiver);
  await revokeTokens(3);
  await expect.poll(async () => (await inspect(stream)).attempts).toBe(1);
  await place.passDays(stream, 2);
  await expect.poll(async () => (await inspect(stream)).attempts).toBe(2);
  expect(await stateOf(stream)).toEqual([State.ACTIVE, Reason.DISABLED_REASON_UNSPECIFIED]);
  await place.passDays(stream, 1);
  await expect.poll(() => stateOf(stream)).toEqual([State.DISABLED, Reason.FAILING]);
  receiver.answer = accepted;
  await resume(stream);
  await expect.poll(() => receiver.received.length).toBe(8);
  const events = await verifyAll(place, receiver.received.slice(3));
  expect(events.filter(({ type }) => type.endsWith("session-revoked"))).toHaveLength(3);
});

test("a paused stream sends nothing, and what happened meanwhile when it is resumed; a deleted one sends nothing more", async () => {
  const [paused, deleted, other] = await Promise.all([1, 2, 3].map(() => startReceiver(accepted)));
  const [first, second] = [await pushTo(required(paused)), await pushTo(required(deleted))];
  await pushTo(required(other));
  await place.owner.eventStreams.pauseEventStream({ path: first.path });
  await place.owner.eventStreams.deleteEventStream({ path: second.path });
  await revokeTokens();
  await expect.poll(() => other?.received.length).toBe(1);
  expect([paused?.received, deleted?.received]).toEqual([[], []]);
  await resume(first);
  await expect.poll(() => paused?.received.length).toBe(3);
  const events = await verifyAll(place, paused?.received ?? []);
  expect(events.map(({ event }) => event["status"])).toEqual(["paused", undefined, "enabled"]);
});

test("a verification event has the state of the request, and comes before what waits", async () => {
  const receiver = await startReceiver(answerWith(500));
  const stream = await pushTo(receiver);
  await revokeTokens();
  await expect.poll(() => inspect(stream)).toMatchObject({ statusCode: 500 });
  receiver.answer = accepted;
  const { jti } = await place.owner.eventStreams.verifyEventStream({ path: stream.path, state: "VGhpcyBpcyBh" });
  await expect.poll(() => receiver.received.length).toBe(3);
  const [, verification, waited] = await verifyAll(place, receiver.received);
  expect(verification).toMatchObject({
    jti,
    subject: { format: "opaque", id: stream.id },
    type: "ssf/event-type/verification",
    event: { state: "VGhpcyBpcyBh" },
  });
  expect(waited?.type).toBe("caep/event-type/session-revoked");
});

test("another URL does not get what was given for the one before", async () => {
  const [first, second] = [await startReceiver(accepted), await startReceiver(accepted)];
  const { path } = await pushTo(first, { pushAuthorization: "Bearer of-the-first" });
  await place.owner.eventStreams.updateEventStream({ path, eventStream: { description: uniqueName("text") } });
  await revokeTokens();
  await expect.poll(() => first.received.length).toBe(1);
  await place.owner.eventStreams.updateEventStream({ path, eventStream: { pushUrl: second.url } });
  await revokeTokens();
  await expect.poll(() => second.received.length).toBe(1);
  const given = [first, second].map(({ received }) => received[0]?.headers.authorization);
  expect(given).toEqual(["Bearer of-the-first", undefined]);
  const rows = await place.sql.query("select * from changes where resource_type = 'EventStream'");
  expect(JSON.stringify(rows)).not.toContain("of-the-first");
});
