// Tests that what is remembered of uses is bounded, and that what finds no room comes again.
import { expect, test } from "vitest";
import { visitUses } from "../../../src/access/engine/decisions/visit-uses.ts";
import { createPendingUses } from "../../../src/access/uses/pending-uses.ts";
import { createSeenDecisions } from "../../../src/access/uses/seen-decisions.ts";
import { acme, alice, createSampleSnapshot, customer, now } from "../sample-snapshot.ts";

const use = (id: string, day = 1) => ({ id, part: "", day });

test("a use is taken once a day, and again if there was no room for it", () => {
  const pending = createPendingUses({ pending: 2, pendingOfOrg: 10, known: 10 });
  expect([use("a"), use("a"), use("b"), use("c")].map((each) => pending.add("acme", each))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  // That one found no room is noted at the org, for which there is always room.
  expect([...pending.take()]).toEqual([["acme", [use("acme"), use("a"), use("b")]]]);
  expect(pending.lost()).toBe(1);
  expect([use("a"), use("c"), use("b", 2)].map((each) => pending.add("acme", each))).toEqual([true, true, true]);
  expect([...pending.take()]).toEqual([["acme", [use("c"), use("b", 2)]]]);
});

test("what could not be written is written with the next ones, unless it was used on a later day", () => {
  const pending = createPendingUses({ pending: 10, pendingOfOrg: 10, known: 10 });
  pending.add("acme", use("a"));
  pending.add("acme", use("b"));
  const [[orgId, uses]] = [...pending.take()] as [[string, ReturnType<typeof use>[]]];
  pending.add("acme", use("b", 2));
  pending.giveBack(orgId, uses);
  expect([...pending.take()]).toEqual([["acme", [use("b", 2), use("a")]]]);
});

test("what could not be written is bounded as well: what finds no room beside the next ones is lost, and noted", () => {
  const pending = createPendingUses({ pending: 4, pendingOfOrg: 3, known: 100 });
  const fill = (...ids: string[]) => ids.map((id) => pending.add("acme", use(id)));
  fill("a", "b", "c");
  const failed = pending.take();
  fill("d", "e");
  for (const [orgId, uses] of failed) pending.giveBack(orgId, uses);
  expect([...pending.take()]).toEqual([["acme", [use("acme"), use("d"), use("e"), use("a")]]]);
  expect(pending.lost()).toBe(2);
  // What was dropped comes again.
  expect(fill("b")).toEqual([true]);
  expect([...pending.take()]).toEqual([["acme", [use("b")]]]);
});

test("a use is written once more if too many others have come between", () => {
  const pending = createPendingUses({ pending: 10, pendingOfOrg: 10, known: 2 });
  for (const id of ["a", "b", "c"]) pending.add("acme", use(id));
  pending.take();
  pending.add("acme", use("a"));
  expect([...pending.take()]).toEqual([["acme", [use("a")]]]);
});

test("an org that fills all room loses its own uses, and no other one's", () => {
  const pending = createPendingUses({ pending: 4, pendingOfOrg: 3, known: 100 });
  const added = ["a", "b", "c", "d"].map((id) => pending.add("greedy", use(id)));
  expect(added).toEqual([true, true, true, false]);
  expect(["e", "f", "g"].map((id) => pending.add("acme", use(id)))).toEqual([true, true, true]);
  expect(new Map(pending.take())).toEqual(
    new Map([
      ["greedy", [use("greedy")]],
      ["acme", [use("e"), use("f"), use("g")]],
    ]),
  );
  expect(pending.lost()).toBe(4);
  // What was dropped comes again.
  pending.add("greedy", use("a"));
  expect([...pending.take()]).toEqual([["greedy", [use("a")]]]);
});

test("an org that is remembered too much of is forgotten, and the others are not", () => {
  const pending = createPendingUses({ pending: 100, pendingOfOrg: 100, known: 4 });
  for (const id of ["a", "b", "c"]) pending.add("greedy", use(id));
  for (const id of ["d", "e"]) pending.add("acme", use(id));
  pending.take();
  for (const id of ["d", "e"]) pending.add("acme", use(id));
  pending.add("greedy", use("a"));
  expect([...pending.take()]).toEqual([["greedy", [use("a")]]]);
});

test("a decision is known until its end, for the same records, and whatever else falls on its place", () => {
  const seen = createSeenDecisions();
  const decision = {
    numbering: {},
    subject: 5,
    permission: "compute.instances.start",
    resource: { kind: "project", customerId: "c", orgId: "o", projectId: "0195-beef" },
  } as const;
  const minuteMs = 60_000;
  const end = 20 * minuteMs;
  expect(seen.has(decision, 10)).toBe(false);
  seen.add(decision, end);
  const times = [10, end - minuteMs - 1, end, end + minuteMs];
  expect(times.map((time) => seen.has(decision, time))).toEqual([true, true, false, false]);
  for (const other of [
    { ...decision, numbering: {} },
    { ...decision, subject: 6 },
    { ...decision, permission: "compute.instances.stort" },
    { ...decision, resource: { ...decision.resource, projectId: "0196-beef" } },
    { ...decision, resource: { kind: "org", customerId: "c", orgId: "o" } as const },
    { ...decision, resource: { kind: "platform" } as const },
  ]) {
    expect(seen.has(other, 10)).toBe(false);
  }
  // The same place for another org: what was there is found once more.
  seen.add({ ...decision, numbering: {} }, end);
  expect(seen.has(decision, 10)).toBe(false);
});

test("of very many bindings that give a permission, so many are visited as are enough, and conditions alone are not told apart", () => {
  const visited = (condition: string) => {
    const bindings = Array.from({ length: 2_000 }, () => ({ role: "starter", condition }));
    const snapshot = createSampleSnapshot({ starter: { permissions: ["compute.instances.start"] } }, bindings);
    const resource = { kind: "org", customerId: customer, orgId: acme } as const;
    const query = { subject: { kind: "member", id: alice }, permission: "compute.instances.start", resource } as const;
    const found: string[] = [];
    const { isCutOff } = visitUses(snapshot, { ...query, now, counted: "all" }, (id) => found.push(id));
    return { count: found.length, isCutOff };
  };
  // One of them is the member.
  expect(visited("")).toEqual({ count: 257, isCutOff: false });
  expect(visited("true")).toEqual({ count: 257, isCutOff: true });
});
