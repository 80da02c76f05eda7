import { expect, test } from "vitest";
import { createHeldOrgs } from "../../src/access/away/held-orgs.ts";
import type { OrgSnapshot } from "../../src/access/engine/org-snapshot.ts";

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

/** Holds one org that a read has confirmed at this moment of the process's own clock, on a machine whose other clock can be set. */
function holdOrgConfirmedAt(confirmedAt: number) {
  let wallMs = 1_000_000;
  const snapshot = { org: { id: "org", customerId: "customer" }, revision: "" } as OrgSnapshot;
  const snapshots = { confirmedAt: () => confirmedAt, held: () => snapshot, heldFrom: () => [] };
  const held = createHeldOrgs(snapshots, limitMs, () => wallMs);
  const head = () => held.head({ by: "id", value: "org" });
  return { held, head, move: (ms: number) => void (wallMs += ms) };
}

test("a slow answer makes no other org look younger: the database may have read its clock at any moment of the wait", () => {
  const arrivedAt = performance.now();
  const { held, head } = holdOrgConfirmedAt(arrivedAt - 6_000);
  held.noteTime({ time, orgHead: { revision: "", readAt: arrivedAt - 5_000 } });
  expect(head().knownTime).toBeLessThanOrEqual(time - 6_000);
  expect(head().now).toBeGreaterThanOrEqual(time + 5_000);
  expect([held.isRecent(head().knownTime, 11_000 - 1), held.isRecent(head().knownTime, 60_000)]).toEqual([false, true]);
});

test("an org that was confirmed before the machine was suspended is as old as that, also once a call has read the clock again", () => {
  const confirmedAt = performance.now();
  const { held, head, move } = holdOrgConfirmedAt(confirmedAt);
  held.noteTime({ time, orgHead: { revision: "", readAt: confirmedAt } });
  move(-86_400_000);
  held.observeClocks();
  move(1_800_000);
  expect(head().now).toBeGreaterThanOrEqual(time + 1_800_000);
  held.observeClocks();
  const readAt = performance.now();
  held.noteTime({ time: time + 1_800_000, orgHead: { revision: "", readAt } });
  expect(head().knownTime).toBeLessThanOrEqual(time);
  expect(held.isRecent(head().knownTime, 1_799_999)).toBe(false);
  // What was read after that is as young as it was.
  expect(held.timeAt(readAt)).toBeGreaterThan(time + 1_700_000);
  expect(head().now).toBeLessThan(time + 1_900_000);
});

test("before any call has read the clock of the database, nothing is recent", () => {
  const nothing = { confirmedAt: () => undefined, held: () => undefined, heldFrom: () => [] };
  expect(createHeldOrgs(nothing, limitMs).isRecent(Date.now(), limitMs)).toBe(false);
});
