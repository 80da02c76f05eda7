import { expect, test } from "vitest";
import { createHeldOrgs } from "../../src/access/away/held-orgs.ts";
import type { OrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { createTestClocks } from "../support/clocks.ts";

const limitMs = 3_600_000;
const dayMs = 86_400_000;
const time = Date.UTC(2026, 0, 1);

const nothing = { confirmedAt: () => undefined, held: () => undefined, heldFrom: () => [] };

/** Returns what is held of nothing, right after a call has read the database's clock. */
function holdNothing() {
  const clocks = createTestClocks();
  const held = createHeldOrgs(nothing, limitMs, clocks);
  held.noteTime({ time, orgHead: { revision: "", readAt: clocks.steady() } });
  return { held, clocks };
}

test("what was known is recent for as long as the caller allows, and no longer than the setting", () => {
  const { held, clocks } = holdNothing();
  clocks.pass(60_000);
  expect(held.isRecent(time, 60_000)).toBe(true);
  clocks.pass(1);
  expect([held.isRecent(time, 60_000), held.isRecent(time, dayMs)]).toEqual([false, true]);
  clocks.pass(limitMs);
  expect(held.isRecent(time, dayMs)).toBe(false);
});

test("a machine that was suspended makes nothing younger, nor does a clock that is set back", () => {
  const { held, clocks } = holdNothing();
  clocks.set(-dayMs);
  expect([held.isRecent(time - 60_000, 60_000), held.isRecent(time - 60_001, 60_000)]).toEqual([true, false]);
  clocks.pass(1);
  clocks.set(60_000);
  expect([held.isRecent(time, 60_000), held.isRecent(time, 60_001)]).toEqual([false, true]);
});

/** Holds one org that a read confirms now. */
function holdOrg() {
  const clocks = createTestClocks();
  const confirmedAt = clocks.steady();
  const snapshot = { org: { id: "org", customerId: "customer" }, revision: "" } as OrgSnapshot;
  const snapshots = { confirmedAt: () => confirmedAt, held: () => snapshot, heldFrom: () => [] };
  const held = createHeldOrgs(snapshots, limitMs, clocks);
  return { held, clocks, head: () => held.head({ by: "id", value: "org" }) };
}

test("a slow answer makes no other org look younger: the database may have read its clock at any moment of the wait", () => {
  const { held, clocks, head } = holdOrg();
  clocks.pass(1_000);
  const readAt = clocks.steady();
  clocks.pass(5_000);
  held.noteTime({ time, orgHead: { revision: "", readAt } });
  expect(head()).toMatchObject({ knownTime: time - 6_000, now: time + 5_000 });
  expect([held.isRecent(head().knownTime, 10_999), held.isRecent(head().knownTime, 11_000)]).toEqual([false, true]);
});

test("an org that was confirmed before the machine was suspended is as old as that, also once a call has read the clock again", () => {
  const { held, clocks, head } = holdOrg();
  held.noteTime({ time, orgHead: { revision: "", readAt: clocks.steady() } });
  clocks.set(-dayMs);
  held.observeClocks();
  clocks.pass(1);
  clocks.set(1_800_000);
  expect(head().now).toBe(time + 1_800_001);
  held.observeClocks();
  const readAt = clocks.steady();
  held.noteTime({ time: time + 1_800_001, orgHead: { revision: "", readAt } });
  expect(head().knownTime).toBe(time);
  expect(held.isRecent(head().knownTime, 1_800_000)).toBe(false);
  // What was read after that is as young as it was.
  expect(held.timeAt(readAt)).toBe(time + 1_800_001);
  expect(head().now).toBe(time + 1_800_001);
});

test("before any call has read the clock of the database, nothing is recent", () => {
  expect(createHeldOrgs(nothing, limitMs).isRecent(Date.now(), limitMs)).toBe(false);
});
