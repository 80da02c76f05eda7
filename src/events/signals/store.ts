// How far each event stream has delivered, and which server pushes, by a lease (../deliveries/lease.ts). All times are of the clock of the
// database.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { timeText } from "../../database/clock.ts";
import type { Schema } from "../../database/schema.ts";
import type { EventStreams } from "../../database/signal-tables.ts";
import { isInThePast } from "../../database/partitions.ts";
import { afterInactive } from "../deliveries/due.ts";
import { streamFollowers } from "../deliveries/followers.ts";
import { type Lease, type Place, type Position, isAt, isHeld, nextAttempt } from "../deliveries/lease.ts";
import { isActiveOrg, isAtOrg } from "../deliveries/store.ts";
import type { StreamTerms, StreamVerification } from "./security-event.ts";

/** A stream, with how far it has delivered. */
export interface StoredStream extends Place, StreamTerms, StreamVerification {
  readonly changed_revision: string;
  readonly state: EventStreams["state"];
  readonly push_url: string;
  readonly sealed_authorization: Buffer | null;
  readonly member_org_id: string;
  readonly member_id: string;
  readonly cursor_time: string;
  readonly cursor_revision: string;
  readonly cursor_position: number;
  /** Up to when its log is known to have had entries. */
  readonly noted_time: string;
  readonly acknowledged: readonly string[];
  readonly attempts: number;
  readonly failing_since: Date | null;
  readonly status_code: number;
  readonly error: string;
  readonly next_attempt_time: Date;
}

const stored = sql`customer_id, org_id, id, changed_revision, state, audience, event_types, subject_format, push_url, sealed_authorization,
  member_org_id, member_id, ${timeText(sql`cursor_time`)} as cursor_time, cursor_revision, cursor_position,
  ${timeText(sql`noted_time`)} as noted_time, acknowledged,
  verification_id, verification_state, verification_time, attempts, failing_since, status_code, error, next_attempt_time`;

const { isActive: isPushed } = streamFollowers;

/** Returns undefined if there is no such stream. */
export async function readStream(
  db: Kysely<Schema>,
  { org_id: orgId, id }: Pick<Place, "org_id" | "id">,
): Promise<StoredStream | undefined> {
  const { rows } = await sql<StoredStream>`
    select ${stored} from event_streams where org_id = ${orgId} and id = ${id}`.execute(db);
  return rows[0];
}

/**
 * Returns since when an org is not active, by the time of the entry that says so; that of the epoch if the log has none any more. Returns
 * undefined if the org is active.
 */
export async function readInactive(db: Kysely<Schema>, orgId: string): Promise<{ readonly since: string } | undefined> {
  const isActive = (row: "before" | "after") =>
    sql`(changes.${sql.ref(row)} ->> 'state' = 'ACTIVE' and changes.${sql.ref(row)} ->> 'delete_time' is null)`;
  const { rows } = await sql<{ since: string }>`
    select coalesce((
      select ${timeText(sql`changes.time`)} from changes
      where org_id = ${orgId} and resource_id = ${orgId} and resource_type = 'Org' and ${sql.raw(isInThePast)}
        and ${isActive("before")} and not ${isActive("after")}
      order by time desc limit 1
    ), ${timeText(sql`'epoch'::timestamptz`)}) as since
    from orgs where id = ${orgId} and not (${isActiveOrg})`.execute(db);
  return rows[0];
}

/** Leaves a stream out for some minutes whose org is not active. A change of the org ends that. */
export async function waitForOrg(db: Kysely<Schema>, lease: Lease, now: Date): Promise<void> {
  await sql`
    update event_streams set next_attempt_time = ${afterInactive(now)}
    where ${isHeld("event_streams", lease)}
      and exists (select from orgs where ${isAtOrg(lease.place)} and not (${isActiveOrg}))`.execute(db);
}

/** Claims a stream that is due and that nobody has claimed. Returns undefined if it is not. */
export async function claimStream(
  db: Kysely<Schema>,
  lease: Lease,
  { now, end }: { readonly now: Date; readonly end: Date },
): Promise<StoredStream | undefined> {
  const { rows } = await sql<StoredStream>`
    update event_streams set lease_id = ${lease.id}, lease_end = ${end}
    where ${isAt("event_streams", lease.place)} and ${isPushed} and lease_end <= ${now} and next_attempt_time <= ${now}
    returning ${stored}`.execute(db);
  return rows[0];
}

/** Begins a try, and holds the lease for longer. Returns false if the stream was changed, or has lost its lease or its state. */
export async function beginTry(
  db: Kysely<Schema>,
  lease: Lease,
  { changed_revision: revision }: StoredStream,
  leaseEnd: Date,
): Promise<boolean> {
  const { rows } = await sql`
    update event_streams set attempts = attempts + 1, lease_end = ${leaseEnd}
    where ${isHeld("event_streams", lease)} and ${isPushed} and changed_revision = ${revision}
    returning id`.execute(db);
  return rows.length > 0;
}

/** What becomes of a stream after a try, or without one. */
interface Ended {
  /** Where the cursor is set; undefined to leave it. */
  readonly cursor?: Position;
  /** The verification event that was delivered. */
  readonly verificationId?: string;
  readonly failingSince: Date | null;
  readonly statusCode: number;
  readonly error: string;
  /** Undefined to leave it. */
  readonly nextAttemptTime?: Date;
}

/** Ends a try. Returns false if it does not hold any more: the stream has changed, or somebody else has it. */
export async function endTry(
  db: Kysely<Schema>,
  lease: Lease,
  { changed_revision: revision }: StoredStream,
  ended: Ended,
): Promise<boolean> {
  const { cursor, verificationId, failingSince, statusCode, error, nextAttemptTime } = ended;
  const moved = cursor === undefined ? sql`` : sql`${setCursor(cursor, [])},`;
  const verified = verificationId === undefined ? sql`` : sql`${forget(verificationId)},`;
  const attempts = failingSince === null ? sql`attempts = 0,` : sql``;
  const { rows } = await sql`
    update event_streams set ${moved} ${verified} ${nextAttempt(nextAttemptTime)} ${attempts} failing_since = ${failingSince},
      status_code = ${statusCode}, error = ${error}
    where ${isHeld("event_streams", lease)} and changed_revision = ${revision} returning id`.execute(db);
  return rows.length > 0;
}

/** What a receiver that polls has told. */
interface Acknowledged {
  readonly cursor: Position;
  /** The ids of events after the cursor. */
  readonly ids: readonly string[];
  readonly verificationId?: string;
  /** What was last wrong; undefined to leave it. */
  readonly error?: string;
}

/** Moves the cursor of a stream that is polled. Returns false if another call has moved it since the stream was read. */
export async function moveCursor(
  db: Kysely<Schema>,
  stream: StoredStream,
  { cursor, ids, verificationId, error }: Acknowledged,
): Promise<boolean> {
  const verified = verificationId === undefined ? sql`` : sql`, ${forget(verificationId)}`;
  const wrong = error === undefined ? sql`` : sql`, error = ${error}`;
  const { rows } = await sql`
    update event_streams set ${setCursor(cursor, ids)} ${verified} ${wrong}
    where ${isAt("event_streams", stream)} and changed_revision = ${stream.changed_revision}
      and cursor_revision = ${stream.cursor_revision} and cursor_position = ${stream.cursor_position} and acknowledged = ${stream.acknowledged}::text[]
    returning id`.execute(db);
  return rows.length > 0;
}

/** Has a stream send a verification event at once. Returns false if there is no such stream. */
export async function askForVerification(
  db: Kysely<Schema>,
  place: Place,
  { id, state, time }: { readonly id: string; readonly state: string; readonly time: Date },
): Promise<boolean> {
  const { rows } = await sql`
    update event_streams set verification_id = ${id}, verification_state = ${state}, verification_time = ${time},
      next_attempt_time = 'epoch'
    where ${isAt("event_streams", place)} returning id`.execute(db);
  return rows.length > 0;
}

const setCursor = ({ time, revision, position }: Position, ids: readonly string[]): RawBuilder<unknown> =>
  sql`cursor_time = ${time}::timestamptz, cursor_revision = ${revision}, cursor_position = ${position},
    acknowledged = ${ids}::text[]`;

/** Another one that was asked for meanwhile stays. */
const forget = (id: string): RawBuilder<unknown> => sql`verification_id = nullif(verification_id, ${id}::uuid)`;
