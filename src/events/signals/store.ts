// How far each event stream has delivered, and which server pushes, by a lease (../deliveries/lease.ts). All times are of the clock of the
// database.
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { clockMs, timeText } from "../../database/clock.ts";
import type { Schema } from "../../database/schema.ts";
import type { EventStreams } from "../../database/signal-tables.ts";
import { perOrg } from "../deliveries/due.ts";
import {
  type DuePlace,
  type Lease,
  type Place,
  type Position,
  afterAll,
  isAt,
  isHeld,
  nextAttempt,
} from "../deliveries/lease.ts";
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
  readonly acknowledged: readonly string[];
  readonly attempts: number;
  readonly failing_since: Date | null;
  readonly status_code: number;
  readonly error: string;
  readonly next_attempt_time: Date;
}

const stored = sql`customer_id, org_id, id, changed_revision, state, audience, event_types, subject_format, push_url, sealed_authorization,
  member_org_id, member_id, ${timeText(sql`cursor_time`)} as cursor_time, cursor_revision, cursor_position, acknowledged,
  verification_id, verification_state, verification_time, attempts, failing_since, status_code, error, next_attempt_time`;

/** Returns undefined if there is no such stream. */
export async function readStream(
  db: Kysely<Schema>,
  { org_id: orgId, id }: Pick<Place, "org_id" | "id">,
): Promise<StoredStream | undefined> {
  const { rows } = await sql<StoredStream>`
    select ${stored} from event_streams where org_id = ${orgId} and id = ${id}`.execute(db);
  return rows[0];
}

/** Finds streams that may have something to push, the one that waits longest first, and whether any stream pushes. */
export async function findDueStreams(
  db: Kysely<Schema>,
  limit: number,
): Promise<{ readonly isAnyActive: boolean; readonly places: readonly DuePlace[] }> {
  const { rows } = await sql<{ is_any: boolean } & (DuePlace | { readonly id: null })>`
    select any_active.is_any, due.customer_id, due.org_id, due.id, ${clockMs} as "nowMs",
      (extract(epoch from due.due_time) * 1000)::float8 as "dueMs"
    from (select exists (select from event_streams where ${isPushed}) as is_any) as any_active
    left join (
      select * from (
        select event_streams.customer_id, event_streams.org_id, event_streams.id,
          greatest(event_streams.next_attempt_time, event_streams.lease_end) as due_time,
          row_number() over (
            partition by event_streams.org_id order by greatest(event_streams.next_attempt_time, event_streams.lease_end)
          ) as place
        from event_streams join orgs on orgs.id = event_streams.org_id
        where ${isPushed} and (orgs.revision <> event_streams.cursor_revision
          or event_streams.cursor_position <> ${sql.lit(afterAll)} or event_streams.verification_id is not null)
      ) as behind where place <= ${sql.lit(perOrg)}
      order by due_time limit ${limit}
    ) as due on true
    order by due.due_time`.execute(db);
  const places = rows.filter((row): row is { is_any: boolean } & DuePlace => row.id !== null);
  return { isAnyActive: rows[0]?.is_any ?? false, places };
}

/** Also in an org that is suspended or deleted: that it is, streams tell. */
const isPushed = sql<SqlBool>`event_streams.state = 'ACTIVE' and event_streams.push_url <> ''`;

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
