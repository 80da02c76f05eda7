// What a stream has to deliver next, and whether it still may.
import { type SqlBool, sql } from "kysely";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { type ChangeRow, selectChanges } from "../changes/store.ts";
import type { Position } from "../deliveries/lease.ts";
import { cursorAt, positionOf } from "../deliveries/read-ahead.ts";
import { findWindowEnd } from "../deliveries/store.ts";
import { holdsToDeliver } from "../webhooks/rules.ts";
import { tellingTypes } from "./happenings.ts";
import { type SecurityEvent, eventsOf } from "./security-event.ts";
import type { StoredStream } from "./store.ts";

interface Dependencies extends Pick<ResourceDependencies, "database" | "authorHolds"> {
  /** The URL of the service. */
  readonly issuer: () => string;
}

/** An entry of the log, and its events for a stream. */
export interface EntryEvents {
  readonly position: Position;
  readonly events: readonly SecurityEvent[];
}

/** The next entries with events. */
interface Ahead {
  readonly entries: readonly EntryEvents[];
  /** Up to where the log was searched; there are no other events before. */
  readonly end: Position;
}

export interface LogOfStream {
  /** Returns undefined if there is nothing after a position. */
  readonly next: (stream: StoredStream, after: Position) => Promise<Ahead | undefined>;
  /** Whether the member of a stream may list the changes of the org now; where the org is not active, whether it is an active member. */
  readonly mayDeliver: (stream: StoredStream) => Promise<boolean>;
}

/** How many entries are read at once. */
const limit = 100;

const tells = sql<SqlBool>`changes.resource_type = any(${tellingTypes}::text[])`;

export function createLogOfStream({ database, authorHolds, issuer }: Dependencies): LogOfStream {
  const toEntry = (stream: StoredStream, row: ChangeRow): EntryEvents => ({
    position: positionOf(row),
    events: eventsOf(stream, row, issuer()),
  });

  return {
    async next(stream, after) {
      const owner = { kind: "org", id: stream.org_id } as const;
      const end = await findWindowEnd(database.reads, owner.id, cursorAt(owner.id, after));
      if (end === undefined) return undefined;
      const { rows } = await selectChanges({
        owner,
        condition: tells,
        pinned: { orgId: owner.id, actor: false },
        after: cursorAt(owner.id, after),
        until: cursorAt(owner.id, end),
        suspended: true,
        descending: false,
        limit,
        states: true,
      }).execute(database.reads);
      const read = rows.filter((row) => !row.is_left_out);
      const last = read.at(-1);
      const isWhole = rows.length < limit && read.length === rows.length;
      const entries = read.map((row) => toEntry(stream, row)).filter(({ events }) => events.length > 0);
      return { entries, end: isWhole || last === undefined ? end : positionOf(last) };
    },

    async mayDeliver(stream) {
      const { org_id: orgId, member_org_id: memberOrgId, member_id: memberId } = stream;
      const { rows } = await sql<{ is_active: boolean; is_member: boolean }>`
        select exists (select from orgs where id = ${orgId} and state = 'ACTIVE' and delete_time is null) as is_active,
          exists (
            select from members where org_id = ${memberOrgId} and id = ${memberId} and state = 'ACTIVE' and delete_time is null
          ) as is_member`.execute(database.reads);
      const found = rows[0];
      // Nobody holds anything in an org that is suspended or deleted, so what the member has lost counts again when the org is active.
      if (found === undefined || !found.is_member) return false;
      if (!found.is_active) return true;
      return (await holdsToDeliver(database.reads, authorHolds, stream)) !== undefined;
    },
  };
}
