// After one server has acknowledged that access is revoked, no server allows it any longer, under any load and without
// delay.
import { afterAll, beforeAll, expect, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import {
  type RacePlace,
  type RaceServer,
  type RaceServers,
  bind,
  createRacePlace,
  startRaceServers,
} from "./race-place.ts";
import { rounds as roundsOf } from "../support/rounds.ts";
import { createRevocations } from "./revocations.ts";

const rounds = Number(process.env["TENANTRY_RACE_ROUNDS"] ?? roundsOf(28, 10_000));

/** The number of orgs in which rounds run concurrently, so that other statements are always in flight. */
const lanes = 8;

const timeout = 300_000 + rounds * 300;

let races: RaceServers;
beforeAll(async () => {
  races = await startRaceServers();
});
afterAll(() => races.close());

/** Runs the rounds on all lanes. The servers alternate as writer and reader. */
async function playRounds(
  count: number,
  play: (place: RacePlace, round: number, writer: RaceServer, reader: RaceServer) => Promise<void>,
): Promise<void> {
  const [one, other] = races.servers;
  let next = 0;
  const playLane = async (): Promise<void> => {
    const place = await createRacePlace(one);
    for (let round = next++; round < count; round = next++) {
      await (round % 2 === 0 ? play(place, round, one, other) : play(place, round, other, one));
    }
  };
  await Promise.all(Array.from({ length: lanes }, playLane));
}

/** Repeats the call until the promise settles. Returns the results. */
async function askUntil(ended: Promise<unknown>, ask: () => Promise<boolean>): Promise<boolean[]> {
  const answers: boolean[] = [];
  const over = new AbortController();
  const end = (): void => over.abort();
  ended.then(end, end);
  while (!over.signal.aborted) answers.push(await ask());
  return answers;
}

test(`access that is revoked on one server is denied on the other, ${rounds} times`, { timeout }, async () => {
  const kinds = Object.entries(createRevocations(races));
  const played = new Map<string, number>();
  const wrong: string[] = [];

  await playRounds(rounds, async (place, round, writer, reader) => {
    // Each kind runs with either server as the writer.
    const [kind, give] = required(kinds[(round >> 1) % kinds.length]);
    const answers = () =>
      Promise.all([
        place.isAllowed(reader, place.web),
        place.isLetIn(reader, place.web),
        place.isAllowed(reader, place.web),
      ]);
    const expectAll = async (expected: boolean, when: string): Promise<void> => {
      const found = await answers();
      if (found.some((answer) => answer !== expected)) wrong.push(`${kind}, ${when}: ${found.join(" ")}`);
    };
    await expectAll(false, "before it is given");
    const { take, tidyUp } = await give(place, writer.api);
    await expectAll(true, "given");
    const taken = take(writer.api);
    // Calls during the revocation may be allowed or denied, but later calls must not get their result.
    const asked = Promise.all([
      askUntil(taken, () => place.isAllowed(reader, place.web)),
      askUntil(taken, () => place.isLetIn(reader, place.web)),
      askUntil(taken, () => place.isLetIn(reader, place.web)),
    ]);
    await taken;
    await expectAll(false, "taken away");
    await asked;
    await tidyUp?.(writer.api);
    played.set(kind, (played.get(kind) ?? 0) + 1);
  });

  expect(wrong).toEqual([]);
  expect([...played.keys()].toSorted()).toEqual(
    kinds
      .slice(0, rounds / 2)
      .map(([kind]) => kind)
      .toSorted(),
  );
});

test("a member removed from a group never gets access that the group is granted afterwards", { timeout }, async () => {
  const wrong: string[] = [];
  const count = Math.max(lanes, Math.ceil(rounds / 5));

  await playRounds(count, async (place, _round, one, other) => {
    const { org, alice, reader, bound: group } = place;
    const secret = (await one.api.projects.createProject({ parentPath: org, project: { name: "secret" } })).path;
    const groupMember = { memberPath: alice };
    const { path } = await one.api.groupMembers.createGroupMember({ parentPath: group, groupMember });
    if (!(await place.isAllowed(other, place.web))) wrong.push("the group's access was not had");

    const share = async (): Promise<void> => {
      await one.api.groupMembers.deleteGroupMember({ path });
      // This access must never reach her.
      await bind(other.api, secret, group, reader);
    };
    const shared = share();
    const [asked] = await Promise.all([
      Promise.all([
        askUntil(shared, () => place.isAllowed(one, secret)),
        askUntil(shared, () => place.isAllowed(other, secret)),
        askUntil(shared, () => place.isLetIn(other, secret)),
      ]),
      shared,
    ]);
    const after = await Promise.all([
      place.isAllowed(one, secret),
      place.isAllowed(other, secret),
      place.isLetIn(one, secret),
      place.isLetIn(other, secret),
    ]);
    if ([...asked.flat(), ...after].includes(true)) wrong.push("what was shared later was had");
    await one.api.projects.deleteProject({ path: secret });
  });

  expect(wrong).toEqual([]);
});
