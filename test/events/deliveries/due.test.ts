// Tests how webhooks and event streams are found that have something to deliver.
import { type Kysely, sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import type { Schema } from "../../../src/database/schema.ts";
import { findDue, noteHeads, noteWritten, noteWrittenSince } from "../../../src/events/deliveries/due.ts";
import { streamFollowers, webhookFollowers } from "../../../src/events/deliveries/followers.ts";
import { addOrg } from "../../database/sample-rows.ts";
import { useSharedDatabase } from "../../database/shared-database.ts";
import { uniqueName } from "../../support/api.ts";
import { addEntry, addFollowers } from "./follower-rows.ts";

const openShared = useSharedDatabase();
let db: Kysely<Schema>;
let orgId: string;
let customerId: string;

describe.each([
  ["webhooks", webhookFollowers],
  ["event streams", streamFollowers],
])("%s", (_called, followers) => {
  const table = sql.table(followers.table);

  /** An org with some that have delivered everything. */
  beforeEach(async () => {
    db = openShared().writes;
    await sql`update ${table} set state = 'PAUSED'`.execute(db);
    ({ id: orgId, customer_id: customerId } = await addOrg(openShared(), uniqueName("org")));
    await addFollowers(db, followers, 6, sql`id = ${orgId}`);
  });

  const due = async (fullOrgIds: readonly string[] = []) => {
    const { isAnyActive, nowMs, places } = await findDue(db, followers, 10, fullOrgIds);
    return { isAnyActive, orgs: places.filter(({ dueMs }) => dueMs <= nowMs).map(({ org_id }) => org_id) };
  };

  const nobody = { isAnyActive: true, orgs: [] };
  const four = () => ({ isAnyActive: true, orgs: [1, 2, 3, 4].map(() => orgId) });
  const anHourAgo = () => new Date(Date.now() - 3_600_000);
  const noteNow = () => {
    const time = new Date(Date.now() + 10).toISOString();
    return noteWritten(db, followers, new Map([[orgId, { customerId, time, isOrgChanged: false }]]));
  };

  test("nothing is due until somebody has noted that the log goes on, and then some of the org are", async () => {
    await addEntry(db, orgId);
    expect(await due()).toEqual(nobody);
    await noteNow();
    expect(await due()).toEqual(four());
    expect(await due([orgId])).toEqual(nobody);
    await sql`update ${table} set state = 'DISABLED'`.execute(db);
    expect(await due()).toEqual({ isAnyActive: false, orgs: [] });
  });

  test.each([
    ["what was written lately", () => noteWrittenSince(db, followers, anHourAgo())],
    ["the heads of the logs", () => noteHeads(db, followers)],
  ])("what a server has written that was killed is found in %s", async (_where, note) => {
    await note();
    expect(await due()).toEqual(nobody);
    await addEntry(db, orgId);
    await note();
    expect(await due()).toEqual(four());
    await sql`update ${table} set cursor_time = noted_time`.execute(db);
    await note();
    expect(await due()).toEqual(nobody);
  });

  test("the rest of a revision of which something was delivered is due", async () => {
    await sql`update ${table} set cursor_position = 0 where org_id = ${orgId}`.execute(db);
    expect(await due()).toEqual(four());
  });

  const noteOrgChanged = (time: Date) =>
    noteWritten(db, followers, new Map([[orgId, { customerId, time: time.toISOString(), isOrgChanged: true }]]));

  test.each([
    ["the server that has written that", () => noteOrgChanged(new Date())],
    ["that server, when another one has noted a later write", () => noteOrgChanged(anHourAgo())],
    [
      "others, when that server was killed and another one has noted a later write",
      () => noteWrittenSince(db, followers, anHourAgo()),
    ],
  ])(
    "what waits because its org was not active is due at once when a change of the org is noted by %s",
    async (_by, note) => {
      await sql`update ${table} set next_attempt_time = now() + interval '1 hour' where org_id = ${orgId}`.execute(db);
      await addEntry(db, orgId, "Org");
      await addEntry(db, orgId);
      await noteNow();
      expect(await due()).toEqual(nobody);
      await note();
      expect(await due()).toEqual(four());
    },
  );

  test("servers that note the same ones at once wait for each other, and none fails", async () => {
    const other = await addOrg(openShared(), uniqueName("org"));
    const logs = [
      [orgId, customerId],
      [other.id, other.customer_id],
    ] as const;
    await addFollowers(db, followers, 20, sql`id = ${other.id}`);
    const rounds = Array.from({ length: 20 }, (_, round) => {
      const time = new Date(Date.now() + round).toISOString();
      const inTurns = round % 2 === 0 ? logs : logs.toReversed();
      const written = inTurns.map(([id, ofOrg]) => [id, { customerId: ofOrg, time, isOrgChanged: false }] as const);
      return noteWritten(db, followers, new Map(written));
    });
    await Promise.all(rounds);
    const { rows } = await sql<{ count: string }>`
      select count(distinct noted_time) from ${table} where state = 'ACTIVE'`.execute(db);
    expect(Number(rows[0]?.count)).toBe(1);
  });
});

test("an event stream that has to verify itself is due, and one that is polled never is", async () => {
  db = openShared().writes;
  await sql`update event_streams set state = 'PAUSED'`.execute(db);
  orgId = (await addOrg(openShared(), uniqueName("org"))).id;
  await addFollowers(db, streamFollowers, 1, sql`id = ${orgId}`);
  await sql`update event_streams set verification_id = gen_random_uuid() where org_id = ${orgId}`.execute(db);
  expect((await findDue(db, streamFollowers, 10)).places).toMatchObject([{ org_id: orgId }]);
  await sql`update event_streams set push_url = '' where org_id = ${orgId}`.execute(db);
  await noteHeads(db, streamFollowers);
  expect(await findDue(db, streamFollowers, 10)).toMatchObject({ isAnyActive: false, places: [] });
});
