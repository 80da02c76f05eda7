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
import { type StoredStream, readInactive } from "./store.ts";

interface Dependencies extends Pick<ResourceDependencies, "database" | "authorHolds"> {
  /** The URL of the service. */
  readonly issuer: () => string;
}

/** An entry of the log, and its events for a stream. */
export interface EntryEvents {
  readonly position: Position;
  /** Whether it is about the org itself. */
  readonly isOfOrg: boolean;
  readonly events: readonly SecurityEvent[];
}

/** The next entries with events. */
interface Ahead {
  readonly entries: readonly EntryEvents[];
  /** Up to where the log was searched; there are no other events before. */
  readonly end: Position;
  /** Whether what follows waits for the org to be active again. */
  readonly isHeld: boolean;
}

export interface LogOfStream {
  /**
   * Returns undefined if there is nothing after a position. What has happened while the org was not active is left out until it is, unless it
   * is about the org, or the member of the stream may list changes there.
   */
  readonly next: (stream: StoredStream, after: Position) => Promise<Ahead | undefined>;
  /** Whether the member of a stream may list the changes of the org now, or might if the org were active. */
  readonly mayDeliver: (stream: StoredStream) => Promise<boolean>;
}

/** How many entries are read at once. */
const limit = 100;

const tells = sql<SqlBool>`changes.resource_type = any(${tellingTypes}::text[])`;

export function createLogOfStream({ database, authorHolds, issuer }: Dependencies): LogOfStream {
  const toEntry = (stream: StoredStream, row: ChangeRow): EntryEvents => ({
    position: positionOf(row),
    isOfOrg: row.resource_type === "Org",
    events: eventsOf(stream, row, issuer()),
  });

  /** Returns undefined if the org is active, or the member of the stream may list its changes although it is not. */
  const readableUntil = async (stream: StoredStream): Promise<string | undefined> => {
    const inactive = await readInactive(database.reads, stream.org_id);
    if (inactive === undefined) return undefined;
    const holds = await holdsToDeliver(database.reads, authorHolds, stream);
    return holds === undefined ? inactive.since : undefined;
  };

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
      return cut(entries, {
        after,
        end: isWhole || last === undefined ? end : positionOf(last),
        // After the entries were read: those that are there then were written before the org was found to be active.
        readable: await readableUntil(stream),
      });
    },

    mayDeliver: async (stream) =>
      (await holdsToDeliver(database.reads, authorHolds, stream, "if active")) !== undefined,
  };
}

interface Read {
  readonly after: Position;
  /** Up to where the log was searched. */
  readonly end: Position;
  /** The time up to which all that has happened may be sent; undefined for everything. */
  readonly readable: string | undefined;
}

/** Leaves out what may not be sent yet, with all that follows it. */
function cut(entries: readonly EntryEvents[], { after, end, readable }: Read): Ahead {
  const mayWait = ({ isOfOrg, position }: EntryEvents): boolean =>
    readable !== undefined && !isOfOrg && position.time > readable;
  const first = entries.findIndex(mayWait);
  if (first === -1) return { entries, end, isHeld: false };
  const sent = entries.slice(0, first);
  return { entries: sent, end: sent.at(-1)?.position ?? after, isHeld: true };
}
