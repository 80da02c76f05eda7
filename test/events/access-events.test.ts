// Tests the log of sign-ins and refused calls: what is in it, to whom it is shown, and what bounds it.
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type AccessEvent, AccessEvent_CallerType, AccessEvent_Kind } from "../../gen/iam/v1alpha/access_event_pb.ts";
import { Member_State } from "../../gen/iam/v1alpha/member_pb.ts";
import type { Database } from "../../src/database/database.ts";
import { required } from "../../src/errors/required.ts";
import { createAccessLog } from "../../src/events/access-events/access-log.ts";
import type { AccessEvent as NotedEvent } from "../../src/events/access-events/access-event.ts";
import { type Caller, type Company, openCompany } from "../access/callers.ts";
import { addOrg } from "../database/sample-rows.ts";
import { createApi } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { overFirst, protocols } from "../support/transports.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const { CALL_REFUSED } = AccessEvent_Kind;
const { FOREIGN, MEMBER } = AccessEvent_CallerType;

/** Waits until the log of an org has so many events that match, the earliest first. */
async function eventsOf(api: Pick<Caller, "accessEvents">, parentPath: string, count: number, filter = "") {
  let events: readonly AccessEvent[] = [];
  await expect
    .poll(async () => {
      events = (await api.accessEvents.listAccessEvents({ parentPath, filter, orderBy: "time" })).accessEvents;
      return events.length;
    })
    .toBe(count);
  return events;
}

describe.each(overFirst(protocols))("over %s, a refused call", (protocol) => {
  let company: Company;
  let owner: Caller;
  let parentPath: string;
  beforeAll(async () => {
    company = await openCompany(protocol, server);
    parentPath = company.org.path;
    owner = await company.joinAs("owner");
  });

  test("is in the log of the org, with who called, by which key, from where, for what and why; many are one", async () => {
    const alice = await company.join("alice");
    const refused = () => alice.groups.createGroup({ parentPath, group: { name: "devs" } });
    for (let time = 0; time < 3; time++) {
      expect(await failureOf(refused())).toMatchObject({ reason: "PERMISSION_DENIED" });
    }
    const filter = `caller_path = "${alice.path}"`;
    // The calls may be in two minutes.
    let events: readonly AccessEvent[] = [];
    await expect
      .poll(async () => {
        events = (await owner.accessEvents.listAccessEvents({ parentPath, filter })).accessEvents;
        return events.reduce((sum, { count }) => sum + count, 0);
      })
      .toBe(3);
    expect(events.length).toBeLessThanOrEqual(2);
    const { apiKeys } = await owner.apiKeys.listApiKeys({ parentPath: alice.path });
    expect(events[0]).toMatchObject({
      kind: CALL_REFUSED,
      callerType: MEMBER,
      callerPath: alice.path,
      impersonatorPath: "",
      credentialId: apiKeys[0]?.id,
      method: "iam.v1alpha.GroupsService/CreateGroup",
      resourcePath: parentPath,
      reason: "PERMISSION_DENIED",
      reasonDetail: "iam.groups.create",
    });
    expect(events[0]?.remoteAddress).toMatch(/^(::ffff:)?127\.0\.0\.1$|^::1$/);
    expect(events[0]?.requestId).not.toBe("");
  });

  test("with a key whose member is suspended is in the log, and one with an unknown key is in none", async () => {
    const bob = await company.join("bob");
    await owner.members.suspendMember({ path: bob.path });
    expect(await failureOf(bob.groups.listGroups({ parentPath }))).toMatchObject({ reason: "TOKEN_INVALID" });
    const nobody = createApi(protocol, server.url, `${owner.key.slice(0, -4)}aaaa`);
    expect(await failureOf(nobody.groups.listGroups({ parentPath }))).toMatchObject({ reason: "TOKEN_INVALID" });
    const [event] = await eventsOf(owner, parentPath, 1, "reason = TOKEN_INVALID");
    expect(event).toMatchObject({ callerPath: bob.path, method: "iam.v1alpha.GroupsService/ListGroups" });
    const { state } = await owner.members.getMember({ path: bob.path });
    expect(state).toBe(Member_State.SUSPENDED);
  });

  test("of a member of another org is in the logs of both, which learn nothing of each other", async () => {
    const other = await openCompany(protocol, server);
    const stranger = await other.joinAs("owner", "stranger");
    const path = `${parentPath}/members/owner`;
    expect(await failureOf(stranger.members.getMember({ path }))).toMatchObject({ reason: "PERMISSION_DENIED" });
    const [seen] = await eventsOf(owner, parentPath, 1, "caller_type = FOREIGN");
    const hidden = { callerPath: "", credentialId: "", remoteAddress: "", requestId: "" };
    expect(seen).toMatchObject({ kind: CALL_REFUSED, callerType: FOREIGN, resourcePath: path, ...hidden });
    const [own] = await eventsOf(stranger, other.org.path, 1);
    expect(own).toMatchObject({ callerPath: stranger.path, resourcePath: "", callerType: MEMBER });
    // Who may get the caller sees it, and only such a reader finds it.
    const [toOperator] = await eventsOf(company.api, parentPath, 1, "caller_type = FOREIGN");
    expect(toOperator?.callerPath).toContain(`/orgs/@${other.org.id}/members/@`);
    expect(toOperator?.credentialId).not.toBe("");
    await eventsOf(owner, parentPath, 0, `caller_path = "${stranger.path}"`);
    await eventsOf(owner, parentPath, 0, `request_id = "${toOperator?.requestId}"`);
  });

  test("for an org that does not exist is in the log of the caller's org alone", async () => {
    const path = "/orgs/there-is-no-such-org";
    expect(await failureOf(owner.orgs.getOrg({ path }))).toMatchObject({ reason: "PERMISSION_DENIED" });
    const [event] = await eventsOf(owner, parentPath, 1, `caller_path = "${owner.path}"`);
    expect(event).toMatchObject({ method: "iam.v1alpha.OrgsService/GetOrg", resourcePath: "" });
  });

  test("is shown to who may list the log, on pages, by filters and in both orders", async () => {
    const carol = await company.join("carol");
    await failureOf(carol.members.listMembers({ parentPath }));
    await failureOf(carol.groups.listGroups({ parentPath }));
    expect(await failureOf(carol.accessEvents.listAccessEvents({ parentPath }))).toMatchObject({
      reason: "PERMISSION_DENIED",
    });
    const filter = `caller_path = "${carol.path}"`;
    const events = await eventsOf(owner, parentPath, 3, filter);
    const latest = await owner.accessEvents.listAccessEvents({ parentPath, filter, pageSize: 2 });
    expect(latest.accessEvents).toEqual(events.toReversed().slice(0, 2));
    const { nextPageToken: pageToken } = latest;
    const rest = await owner.accessEvents.listAccessEvents({ parentPath, filter, pageSize: 2, pageToken });
    expect(rest).toMatchObject({ accessEvents: events.slice(0, 1), nextPageToken: "" });
    const one = `${filter} AND method = "iam.v1alpha.GroupsService/ListGroups" AND kind = CALL_REFUSED`;
    expect(await eventsOf(owner, parentPath, 1, one)).toMatchObject([{ reasonDetail: "iam.groups.list" }]);
    expect(
      await failureOf(owner.accessEvents.listAccessEvents({ parentPath, filter: 'caller_path < "/orgs/a/members/b"' })),
    ).toMatchObject({ reason: "FIELD_INVALID" });
  });
});

describe("the log of a server", () => {
  const noted = (event: Partial<NotedEvent>): NotedEvent => ({
    kind: "CALL_REFUSED",
    caller: undefined,
    org: undefined,
    method: "method",
    resourcePath: "",
    reason: "PERMISSION_DENIED",
    reasonDetail: "",
    remoteAddress: "192.0.2.7",
    requestId: null,
    ...event,
  });
  const quiet = { warn: () => {} };
  const limits = { inAll: 100, perCaller: 50, perOrg: 100, ownPerHour: 20, othersPerHour: 5, linesPerOrg: 10 };

  /** Opens a log that writes when it is closed. */
  function openLog(database: Pick<Database, "writes">, changed: Partial<typeof limits> = {}, logger = quiet) {
    const log = createAccessLog({ database, logger, limits: { ...limits, ...changed }, intervalMs: 3_600_000 });
    onTestFinished(() => log.job.close());
    return log;
  }

  const linesOf = async (database: Database, { id }: { id: string }) => {
    const { rows } = await sql<{ method: string; count: number; actor_id: string | null }>`
      select method, count::int as count, actor_id from access_events where org_id = ${id}
      order by method, count`.execute(database.reads);
    return rows;
  };

  test("of two servers, adds to the same line", async () => {
    const database = await openTestDatabase();
    const org = await addOrg(database, "acme");
    const caller = { orgId: org.id, memberId: randomUUID() };
    const logs = [openLog(database), openLog(database)];
    for (const log of logs) for (let time = 0; time < 4; time++) log.note(noted({ caller }));
    await Promise.all(logs.map(({ job }) => job.close()));
    const lines = await linesOf(database, org);
    expect(lines.reduce((sum, { count }) => sum + count, 0)).toBe(8);
    // One, unless a minute ended in between.
    expect(lines.length).toBeLessThanOrEqual(2);
  });

  test("gives an org so many lines in an hour, for others apart from its members, and counts the rest", async () => {
    const database = await openTestDatabase();
    const org = await addOrg(database, "acme");
    const log = openLog(database, { linesPerOrg: 1_000 });
    const member = { orgId: org.id, memberId: randomUUID() };
    for (let line = 0; line < 30; line++) {
      log.note(noted({ method: `other ${line}`, org: { by: "name", value: "acme" } }));
      log.note(noted({ method: `own ${line}`, caller: member }));
    }
    await log.job.close();
    const lines = await linesOf(database, org);
    const [own, others, rest] = ["own", "other", ""].map((begin) =>
      lines.filter(({ method }) => method.split(" ")[0] === begin),
    );
    expect([own?.length, others?.length]).toEqual([20, 5]);
    // Those of the hour that may end in between are in a second line.
    expect(rest?.reduce((sum, { count }) => sum + count, 0)).toBe(35);
    expect(rest?.every(({ actor_id: actor }) => actor === null)).toBe(true);
  });

  test("holds so many events of one caller and in all, and says that it has left some out", async () => {
    const database = await openTestDatabase();
    const org = await addOrg(database, "acme");
    const warnings: unknown[] = [];
    const log = openLog(database, { ownPerHour: 1_000, linesPerOrg: 1_000 }, {
      warn: (fields: unknown) => warnings.push(fields),
    } as never);
    for (let caller = 0; caller < 3; caller++) {
      const from = { orgId: org.id, memberId: randomUUID() };
      for (let line = 0; line < 60; line++) log.note(noted({ caller: from, method: `m ${line}` }));
    }
    await log.job.close();
    expect(await linesOf(database, org)).toHaveLength(100);
    expect(warnings).toEqual([{ events: 80 }]);
  });

  test("leaves room for other orgs, whatever the members of one do, and whoever asks for it", async () => {
    const database = await openTestDatabase();
    const orgs = [await addOrg(database, "acme"), await addOrg(database, "quiet")] as const;
    const log = openLog(database, { inAll: 25, perOrg: 10, ownPerHour: 100, othersPerHour: 100, linesPerOrg: 100 });
    const [acme, other] = orgs;
    for (let line = 0; line < 20; line++) {
      log.note(noted({ caller: { orgId: acme.id, memberId: randomUUID() }, method: `m ${line}` }));
      log.note(
        noted({ org: { by: "name", value: "acme" }, remoteAddress: `2001:db8:${line}::1`, method: `n ${line}` }),
      );
    }
    log.note(noted({ caller: { orgId: other.id, memberId: randomUUID() } }));
    await log.job.close();
    const counts = (await linesOf(database, acme)).map(({ method }) => method.charAt(0)).join("");
    expect([counts, (await linesOf(database, other)).length]).toEqual(["m".repeat(10) + "n".repeat(10), 1]);
  });

  test("takes the addresses of an IPv6 network for those of one client", async () => {
    const database = await openTestDatabase();
    const org = await addOrg(database, "acme");
    const log = openLog(database, { perCaller: 3, othersPerHour: 100, linesPerOrg: 100 });
    for (let line = 0; line < 10; line++)
      log.note(noted({ org: { by: "id", value: org.id }, remoteAddress: `2001:db8::${line}` }));
    await log.job.close();
    expect(await linesOf(database, org)).toHaveLength(3);
  });

  test("keeps the latest lines of an org, and none of an org that does not exist", async () => {
    const database = await openTestDatabase();
    const org = await addOrg(database, "acme");
    await sql`
      insert into access_events (customer_id, org_id, id, time, last_time, count, kind, method, resource_path, reason, reason_detail)
      select ${org.customer_id}, ${org.id}, gen_random_uuid(), now() - n * interval '1 day', now(), 1, 'CALL_REFUSED', 'old ' || n,
        '', '', '' from generate_series(1, 30) as n`.execute(database.writes);
    const log = openLog(database);
    log.note(noted({ caller: { orgId: org.id, memberId: randomUUID() }, org: { by: "name", value: "nowhere" } }));
    log.note(noted({ org: { by: "id", value: randomUUID() } }));
    await log.job.close();
    const methods = (await linesOf(database, org)).map(({ method }) => method);
    expect(methods.toSorted()).toEqual(["method", ...Array.from({ length: 9 }, (_, n) => `old ${n + 1}`)]);
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from access_events`.execute(database.reads);
    expect(required(rows[0]).n).toBe(10);
  });

  test("writes what it could not write when it can again, and counts nothing twice", async () => {
    const database = await openTestDatabase();
    const org = await addOrg(database, "acme");
    const warnings: unknown[] = [];
    const logger = { warn: (fields: unknown) => warnings.push(fields) } as never;
    const log = createAccessLog({ database, logger, limits, intervalMs: 20 });
    onTestFinished(() => log.job.close());
    await sql`alter table access_events rename to elsewhere`.execute(database.writes);
    const event = noted({ caller: { orgId: org.id, memberId: randomUUID() } });
    log.note(event);
    await expect.poll(() => warnings.length).toBeGreaterThan(0);
    log.note(event);
    await sql`alter table elsewhere rename to access_events`.execute(database.writes);
    const sum = async () => (await linesOf(database, org)).reduce((total, { count }) => total + count, 0);
    await expect.poll(sum).toBe(2);
    await log.job.close();
    expect(await sum()).toBe(2);
  });

  test("sends no statement while nothing happens", async () => {
    const database = await openTestDatabase();
    const before = database.activity.writes();
    const log = createAccessLog({ database, logger: quiet, limits, intervalMs: 1 });
    // Its timer comes again and again before this one.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await log.job.close();
    expect(database.activity.writes()).toBe(before);
    expect(log.job.runs.ended).toBe(0);
  });
});
