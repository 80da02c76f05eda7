// Kills the server that delivers at each step of a request. The next one goes on: in order, with the same ids, and nothing is lost.
// `npm run soak` kills 200 times.
import { expect, test } from "vitest";
import { Webhook_State } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { rounds } from "../../support/rounds.ts";
import { steps, useKilled } from "./killed.ts";
import { idsOf, pathsOf } from "./place.ts";
import { accept, answerWith } from "./receiver.ts";

/** What a server is about to write when it is killed, by the condition of a trigger. */
const statements = [
  ["that there is something to deliver", "new.noted_time > old.noted_time"],
  ["that it delivers", "old.lease_id is null and new.lease_id is not null"],
  ["that it tries", "new.attempts > old.attempts"],
  ["what was accepted", "new.cursor_time > old.cursor_time"],
  ["that there is no more", "new.cursor_time = old.cursor_time and new.cursor_position > old.cursor_position"],
  ["that others may deliver", "old.lease_id is not null and new.lease_id is null"],
] as const;

const killed = useKilled("org");

test("a server that is killed while it delivers loses nothing, and its lease keeps others from the webhook until it ends", async () => {
  const { receiver, created, ...place } = killed();
  const kills = Array.from({ length: rounds(1, 40) }, () => steps).flat();
  for (const step of kills) {
    const before = receiver.received.length;
    let death: Promise<unknown> | undefined;
    receiver.answer = step(() => (death ??= place.kill()));
    await place.createGroup();
    await expect.poll(() => receiver.received.length).toBe(before + 1);
    await death;
    await place.keepLease();
    receiver.answer = accept;
    await place.serveAgain();
    await place.createGroup();
    // One that looks for what there is to deliver finds that it is taken.
    await place.createGroup();
    expect(receiver.received).toHaveLength(before + 1);
    await place.endLease();
    await place.createGroup();
    await expect.poll(() => new Set(pathsOf(receiver.received)).size).toBe(created.length);
  }
  const paths = pathsOf(receiver.received);
  expect(paths.filter((path, index) => paths.indexOf(path) === index)).toEqual(created);
  expect(new Set(idsOf(receiver.received)).size).toBe(created.length);
  expect(paths).toHaveLength(created.length + kills.length);
});

test("a server that is killed before it writes anything of a webhook loses nothing, and sends nothing out of order", async () => {
  const { receiver, created, ...place } = killed();
  for (const [, condition] of Array.from({ length: rounds(1, 20) }, () => statements).flat()) {
    await expect.poll(place.isIdle).toBe(true);
    const go = await place.stopBefore(condition);
    await place.createGroup();
    await expect.poll(place.isStopped).toBe(true);
    await place.kill();
    await go();
    await place.endLease();
    await place.serveAgain();
    await place.createGroup();
    await expect.poll(() => new Set(pathsOf(receiver.received)).size).toBe(created.length);
  }
  const paths = pathsOf(receiver.received);
  expect(paths.filter((path, index) => paths.indexOf(path) === index)).toEqual(created);
  expect(new Set(idsOf(receiver.received)).size).toBe(created.length);
});

test("a server that is killed before it disables a webhook leaves that to another one, and nothing is sent afterwards", async () => {
  const { receiver, ...place } = killed();
  await expect.poll(place.isIdle).toBe(true);
  const before = receiver.received.length;
  receiver.answer = answerWith(410);
  const go = await place.stopBefore("new.state = 'DISABLED'");
  await place.createGroup();
  await expect.poll(place.isStopped).toBe(true);
  await place.kill();
  await go();
  await place.endLease();
  await place.serveAgain();
  await expect.poll(async () => (await place.webhook()).state).toBe(Webhook_State.DISABLED);
  expect(new Set(idsOf(receiver.received.slice(before))).size).toBe(1);
  const { length } = receiver.received;
  await place.endLease();
  await place.createGroup();
  await place.createGroup();
  expect(receiver.received).toHaveLength(length);
});
