// Tests that a server does not read again what it has written itself.
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { createSnapshots } from "../../src/access/snapshots/current-snapshots.ts";
import { entriesOf } from "../../src/changes/entries.ts";
import { beginInGroup, endInGroup } from "../../src/changes/write-group.ts";
import type { Committed, Entry } from "../../src/database/commits.ts";
import { createFairQueue } from "../../src/scheduling/fair-queue.ts";
import { createWriteGroups } from "../../src/standard-methods/write/write-groups.ts";
import { addLogged, headOf } from "../changes/logged-writes.ts";
import { addOrg, sampleAuthor } from "../database/sample-rows.ts";
import { useSharedDatabase } from "../database/shared-database.ts";
import { sampleRevision } from "../support/revisions.ts";
import { insertOrg } from "./org-rows.ts";
import { unfollowed } from "../support/unfollowed.ts";

const database = useSharedDatabase();

const openSnapshots = () =>
  createSnapshots({
    database: database(),
    readConnections: 4,
    maxBytes: Infinity,
    predefinedRoles: {},
    compileCondition: () => () => true,
  });

/** The entries of a revision in which members were created. */
function created(orgId: string, revision: string, names: readonly string[]): Entry[] {
  const changes = names.map((name) => {
    const after = { id: randomUUID(), name, state: "ACTIVE", delete_time: null };
    return { type: "Member", id: after.id, path: "", containerId: after.id, before: null, after } as const;
  });
  return entriesOf(
    { org: { customer_id: orgId, id: orgId }, revision, time: "2030-01-01T00:00:00.000000Z" },
    sampleAuthor,
    changes,
  );
}

describe("the snapshot of an org", () => {
  const [first, second, third] = [7, 8, 9].map(sampleRevision) as [string, string, string];
  let snapshots: ReturnType<typeof openSnapshots>;
  let orgId: string;
  let head: { revision: string; readAt: number };
  const has = (name: string): boolean =>
    snapshots.held(orgId)?.findSubject("member", { by: "name", value: name }) !== undefined;
  const commit = (before: string, entries: readonly Entry[], lockedAt = performance.now()): Committed => ({
    ...unfollowed,
    orgId,
    before,
    entries,
    lockedAt,
  });
  beforeEach(async () => {
    orgId = await insertOrg(database(), { members: 3, groups: 2 });
    snapshots = openSnapshots();
    head = { revision: first, readAt: performance.now() };
    await snapshots.at(orgId, head);
  });

  test("follows what this server has committed, in several revisions, without a read", async () => {
    snapshots.follow(
      commit(first, [...created(orgId, second, ["new", "newer"]), ...created(orgId, third, ["newest"])]),
    );
    const snapshot = snapshots.at(orgId, { revision: third, readAt: performance.now() });
    expect(snapshot).toBe(snapshots.held(orgId));
    expect([snapshots.held(orgId)?.revision, has("new"), has("newer"), has("newest")]).toEqual([
      third,
      true,
      true,
      true,
    ]);
    expect(snapshots.held(orgId)?.hasReached(second)).toBe(true);
  });

  test("serves calls that came before the commit, and reads for those that came after it", async () => {
    const called = performance.now();
    snapshots.follow(commit(first, created(orgId, second, ["new"])));
    expect(snapshots.at(orgId, { revision: first, readAt: called })).toBe(snapshots.held(orgId));
    const later = snapshots.at(orgId, { revision: third, readAt: performance.now() });
    expect(later).toBeInstanceOf(Promise);
    // The log has neither, as after a failover: the org is read again.
    expect((await later).revision).toBe(first);
    expect(has("new")).toBe(false);
  });

  test("stays as it is when it is at another revision, or is read in steps", async () => {
    snapshots.follow(commit(second, created(orgId, third, ["new"])));
    expect([snapshots.held(orgId)?.revision, has("new")]).toEqual([first, false]);
    const release = await snapshots.held(orgId)?.readHold.hold();
    snapshots.follow(commit(first, created(orgId, second, ["new"])));
    expect([snapshots.held(orgId)?.revision, has("new")]).toEqual([first, false]);
    release?.();
  });

  test("stays as it is while it is being read", async () => {
    const reading = snapshots.at(orgId, { revision: second, readAt: performance.now() });
    snapshots.follow(commit(first, created(orgId, second, ["new"])));
    expect(snapshots.held(orgId)?.revision).toBe(first);
    expect((await reading).revision).toBe(first);
    expect(has("new")).toBe(false);
  });

  test("is read again when an entry cannot be applied, and the write is not told", async () => {
    const broken = created(orgId, third, ["new"]).map((entry) => ({ ...entry, after: { id: "no id" } }));
    snapshots.follow(commit(first, [...created(orgId, second, ["new"]), ...broken]));
    expect(snapshots.held(orgId)).toBe(undefined);
    expect((await snapshots.at(orgId, head)).revision).toBe(first);
    expect(has("new")).toBe(false);
  });

  test("is not made for a commit", () => {
    const other = openSnapshots();
    other.follow(commit(first, created(orgId, second, ["new"])));
    expect(other.held(orgId)).toBe(undefined);
  });
});

test("writes that share a transaction tell what they have committed, when they have and before they are answered", async () => {
  const org = await addOrg(database(), `followed-${randomUUID()}`);
  const before = await headOf(database(), org);
  const events: unknown[] = [];
  const groups = createWriteGroups({
    database: database(),
    writeQueue: createFairQueue({ capacity: 1, perTarget: 1 }),
  });
  const end = database().commits.subscribe(
    ({ orgId, before: from, entries, lockedAt }) =>
      events.push({
        orgId,
        from,
        revisions: entries.map(({ revision }) => revision),
        isPast: lockedAt < performance.now(),
      }),
    (error) => events.push(error),
  );
  const signal = () => new AbortController().signal;
  const call = {
    orgId: org.id,
    locks: { org: { by: "id", value: org.id } },
    signal,
    remainingMs: () => undefined,
  } as const;
  const run = (write: "add" | "fail" | "nothing") =>
    groups
      .run(call, async (group) => {
        const transaction = await beginInGroup(group, group.locks, sampleAuthor);
        if (write !== "nothing") await addLogged(transaction, `m-${randomUUID()}`);
        endInGroup(group, transaction);
        if (write === "fail") throw new Error("refused");
        return "answered";
      })
      .then((answer) => events.push(answer))
      .catch(({ message }: Error) => events.push(message));
  await run("add");
  const revision = await headOf(database(), org);
  await run("fail");
  await run("nothing");
  end();
  expect(events).toEqual([
    { orgId: org.id, from: before, revisions: [revision], isPast: true },
    "answered",
    "refused",
    "answered",
  ]);
});
