// Kills the server that delivers for a webhook of a customer at each step of a request. The next one goes on: each log in its order, with the
// same ids, and nothing is lost. `npm run soak` kills 200 times.
import { expect, test } from "vitest";
import { Webhook_State } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { rounds } from "../../support/rounds.ts";
import { type Killed, steps, useKilled } from "./killed.ts";
import { idsOf, pathsOf } from "./place.ts";
import { accept, answerWith } from "./receiver.ts";

/** What a server is about to write of a log when it is killed, by the table and the condition of a trigger. */
const ofLogs = [
  ["webhook_logs", "new.attempts > old.attempts"],
  ["webhook_logs", "new.cursor_time > old.cursor_time"],
  ["webhooks", "new.cursor_time > old.cursor_time"],
] as const;

/** The same as for a webhook of an org. */
const others = [
  ["webhooks", "new.noted_time > old.noted_time"],
  ["webhooks", "old.lease_id is null and new.lease_id is not null"],
  ["webhooks", "old.lease_id is not null and new.lease_id is null"],
] as const;

const killed = useKilled("customer");

/** Each group was delivered, and those of each org in their order. */
function expectAll({ receiver, created, orgs }: Killed): void {
  const paths = pathsOf(receiver.received);
  const first = paths.filter((path, index) => paths.indexOf(path) === index);
  const of = (all: readonly string[], org: string) => all.filter((path) => path.startsWith(`${org}/`));
  for (const org of orgs) expect(of(first, org)).toEqual(of(created, org));
  expect(new Set(idsOf(receiver.received)).size).toBe(created.length);
}

const allArrive = ({ receiver, created }: Killed): Promise<void> =>
  expect.poll(() => new Set(pathsOf(receiver.received)).size).toBe(created.length);

test("a server that is killed while it delivers logs of a customer loses nothing", async () => {
  const place = killed();
  const { receiver } = place;
  for (const step of Array.from({ length: rounds(1, 40) }, () => steps).flat()) {
    let death: Promise<unknown> | undefined;
    receiver.answer = step(() => (death ??= place.kill()));
    await place.createGroup();
    await expect.poll(() => death).toBeDefined();
    await death;
    receiver.answer = accept;
    await place.serveAgain();
    await place.createGroup();
    await place.endLease();
    await place.createGroup();
    await allArrive(place);
  }
  expectAll(place);
});

test("a server that is killed before it writes how far it has delivered a log of a customer loses nothing", async () => {
  const place = killed();
  // The logs have rows then.
  for (let index = 0; index < place.orgs.length; index++) await place.createGroup();
  await allArrive(place);
  for (const [table, condition] of Array.from({ length: rounds(1, 20) }, () => [
    ...ofLogs,
    ...rounds<readonly (typeof others)[number][]>([], others),
  ]).flat()) {
    await expect.poll(place.isIdle).toBe(true);
    const go = await place.stopBefore(condition, table);
    await place.createGroup();
    await expect.poll(place.isStopped).toBe(true);
    await place.kill();
    await go();
    await place.endLease();
    await place.serveAgain();
    await place.createGroup();
    await allArrive(place);
  }
  expectAll(place);
});

test("a server that is killed before it disables a webhook of a customer leaves that to another one, and no log is sent afterwards", async () => {
  const place = killed();
  const { receiver } = place;
  await expect.poll(place.isIdle).toBe(true);
  receiver.answer = answerWith(410);
  const go = await place.stopBefore("new.state = 'DISABLED'");
  await place.createGroup();
  await expect.poll(place.isStopped).toBe(true);
  await place.kill();
  await go();
  await place.endLease();
  await place.serveAgain();
  await place.createGroup();
  await expect.poll(async () => (await place.webhook()).state).toBe(Webhook_State.DISABLED);
  const { length } = receiver.received;
  await place.endLease();
  await place.createGroup();
  await place.createGroup();
  expect(receiver.received).toHaveLength(length);
});
