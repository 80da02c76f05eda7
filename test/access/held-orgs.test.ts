import { expect, test } from "vitest";
import { createHeldOrgs } from "../../src/access/away/held-orgs.ts";

const limitMs = 3_600_000;
const time = Date.UTC(2026, 0, 1);

/** Returns what is held by a machine whose other clock can be set, right after a call has read the database's. */
function holdAt(): { held: ReturnType<typeof createHeldOrgs>; move: (ms: number) => void } {
  let wallMs = 1_000_000;
  const nothing = { confirmedAt: () => undefined, held: () => undefined, heldFrom: () => [] };
  const held = createHeldOrgs(nothing, limitMs, () => wallMs);
  held.noteTime({ time, orgHead: { revision: "", readAt: performance.now() } });
  return { held, move: (ms) => void (wallMs += ms) };
}

test("what was known is recent for as long as the caller allows, and no longer than the setting", () => {
  const { held, move } = holdAt();
  expect(held.isRecent(time, 60_000)).toBe(true);
  move(60_001);
  expect([held.isRecent(time, 60_000), held.isRecent(time, 86_400_000)]).toEqual([false, true]);
  move(limitMs);
  expect(held.isRecent(time, 86_400_000)).toBe(false);
});

test("a clock that is set back makes nothing younger", () => {
  const { held, move } = holdAt();
  move(-86_400_000);
  expect([held.isRecent(time - 60_000, 60_000), held.isRecent(time, 60_000)]).toEqual([false, true]);
});

test("before any call has read the clock of the database, nothing is recent", () => {
  const nothing = { confirmedAt: () => undefined, held: () => undefined, heldFrom: () => [] };
  expect(createHeldOrgs(nothing, limitMs).isRecent(Date.now(), limitMs)).toBe(false);
});
