// Writes sign-ins and refused calls. What several servers have seen of one line, or what comes later in the same minute, is added to it.
import { type Insertable, type Kysely, sql } from "kysely";
import { secondsAfter } from "../../database/clock.ts";
import type { AccessEvents } from "../../database/log-tables.ts";
import type { OrgKey } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import type { OneReference } from "../../paths/parse-path.ts";
import type { FindLine } from "./org-lines.ts";
import type { PendingEvent } from "./pending-events.ts";

type Row = Insertable<AccessEvents>;

/** The database's clock as text, and that of the events at the same time, in milliseconds. */
interface Now {
  readonly time: string;
  readonly ms: number;
}

/** How many rows a statement has. */
const rowsPerStatement = 500;

/** Writes events into the logs of their orgs. Returns these, with how many lines each got; orgs that do not exist get none. */
export async function writeEvents(
  db: Kysely<Schema>,
  events: readonly PendingEvent[],
  now: Now,
  findLine: FindLine,
): Promise<ReadonlyMap<OrgKey, number>> {
  const findOrg = await readOrgs(db, events);
  const rows = new Map<string, Row>();
  const written = new Map<OrgKey, number>();
  const add = (org: OrgKey, pending: PendingEvent, resourcePath: string): void => {
    const { event, firstMs, lastMs, count } = pending;
    const timeOf = (ms: number): string => secondsAfter(now.time, (ms - now.ms) / 1000).toISOString();
    const [first, last] = [timeOf(firstMs), timeOf(lastMs)];
    const { id, event: shown } = findLine(org.id, { ...event, resourcePath }, pending.key, first);
    const found = rows.get(`${org.id} ${id}`);
    rows.set(`${org.id} ${id}`, {
      ...(found ?? { ...columnsOf(shown), customer_id: org.customer_id, org_id: org.id, id, time: first }),
      last_time: last,
      count: (found?.count ?? 0) + count,
    });
    if (found === undefined) written.set(org, (written.get(org) ?? 0) + 1);
  };
  for (const pending of events) {
    const { caller, org, resourcePath } = pending.event;
    const own = caller && findOrg({ by: "id", value: caller.orgId });
    const asked = org && findOrg(org);
    // The path is of the org that was asked for, whose name another org is not told.
    if (own !== undefined) add(own, pending, own === asked ? resourcePath : "");
    if (asked !== undefined && own !== asked) add(asked, pending, resourcePath);
  }
  // All servers in the same order, so that none waits for another one that waits for it.
  const ordered = [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
  for (let start = 0; start < ordered.length; start += rowsPerStatement) {
    await insertRows(db, ordered.slice(start, start + rowsPerStatement));
  }
  return written;
}

/** Reads the orgs of events, each of which is found as one object. */
async function readOrgs(
  db: Kysely<Schema>,
  events: readonly PendingEvent[],
): Promise<(org: OneReference) => OrgKey | undefined> {
  const [ids, names] = [new Set<string>(), new Set<string>()];
  for (const { event } of events) {
    if (event.caller !== undefined) ids.add(event.caller.orgId);
    if (event.org !== undefined) (event.org.by === "id" ? ids : names).add(event.org.value);
  }
  const orgs = await db
    .selectFrom("orgs")
    .select(["customer_id", "id", "name"])
    .where("delete_time", "is", null)
    .where(sql<boolean>`(id = any(${[...ids]}::uuid[]) or name = any(${[...names]}::text[]))`)
    .execute();
  const found = {
    id: new Map(orgs.map((org) => [org.id, org])),
    name: new Map(orgs.map((org) => [org.name, org])),
  };
  return ({ by, value }) => found[by].get(value);
}

function columnsOf(event: Omit<PendingEvent["event"], "org">) {
  const { caller } = event;
  return {
    kind: event.kind,
    actor_org_id: caller?.orgId ?? null,
    actor_id: caller?.memberId ?? null,
    impersonator_id: caller?.impersonator?.memberId ?? null,
    credential_id: caller?.credentialId || null,
    method: event.method,
    resource_path: event.resourcePath,
    reason: event.reason,
    reason_detail: event.reasonDetail,
    remote_address: event.remoteAddress,
    request_id: event.requestId,
  };
}

const columnTypes: Readonly<Record<keyof AccessEvents, string>> = {
  customer_id: "uuid",
  org_id: "uuid",
  id: "uuid",
  time: "timestamptz",
  last_time: "timestamptz",
  count: "bigint",
  kind: "text",
  actor_org_id: "uuid",
  actor_id: "uuid",
  impersonator_id: "uuid",
  credential_id: "uuid",
  method: "text",
  resource_path: "text",
  reason: "text",
  reason_detail: "text",
  remote_address: "text",
  request_id: "text",
};

async function insertRows(db: Kysely<Schema>, rows: readonly Row[]): Promise<void> {
  const names = Object.keys(columnTypes) as (keyof AccessEvents)[];
  const arrays = names.map((name) => sql`${rows.map((row) => row[name])}::${sql.raw(columnTypes[name])}[]`);
  await sql`
    insert into access_events (${sql.join(names.map((name) => sql.ref(name)))})
    select * from unnest(${sql.join(arrays)})
    on conflict (customer_id, org_id, id) do update set count = access_events.count + excluded.count,
      last_time = greatest(access_events.last_time, excluded.last_time)`.execute(db);
}

/** Removes the oldest lines of an org, beyond a number of them. */
export async function trimEvents(db: Kysely<Schema>, org: OrgKey, most: number): Promise<void> {
  await sql`
    delete from access_events
    where customer_id = ${org.customer_id} and org_id = ${org.id} and time <= (
      select time from access_events where org_id = ${org.id} order by time desc, id desc offset ${most} limit 1)`.execute(
    db,
  );
}
