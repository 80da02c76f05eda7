// What a receiver that polls gets, and what its acknowledgements do (RFC 8936).
import type { Kysely } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { type Position, afterAll, isSame } from "../deliveries/lease.ts";
import type { EntryEvents, LogOfStream } from "./read-ahead.ts";
import { type SecurityEvent, verificationOf } from "./security-event.ts";
import { type StoredStream, moveCursor } from "./store.ts";

/** What waits for a receiver. */
export interface Waiting {
  readonly events: readonly SecurityEvent[];
  /** Whether there are more after them. */
  readonly hasMore: boolean;
}

/** How many pieces of the log without an event are passed over by one call, each of a thousand entries. */
const maxPieces = 20;

/**
 * Moves the cursor of a stream over what is acknowledged, or has no events, and returns the next ones. Returns undefined if another call has
 * moved it since the stream was read.
 *
 * @param ids of the events that are acknowledged.
 * @param error what was wrong with one of them; undefined to leave what was last wrong.
 */
export async function readNextEvents(
  db: Kysely<Schema>,
  log: Pick<LogOfStream, "next">,
  stream: StoredStream,
  ids: ReadonlySet<string>,
  error: string | undefined,
  issuer: string,
): Promise<Waiting | undefined> {
  const known = new Set([...stream.acknowledged, ...ids]);
  const from = { time: stream.cursor_time, revision: stream.cursor_revision, position: stream.cursor_position };
  const { cursor, entries, end } = await passOver(log, stream, from, known);
  const verification = verificationOf(stream, issuer);
  const isVerified = verification !== undefined && ids.has(verification.jti);
  const inLog = entries.flatMap(({ events }) => events);
  const kept = inLog.map(({ jti }) => jti).filter((jti) => known.has(jti));
  if (!isSame(cursor, from) || !areSame(kept, stream.acknowledged) || isVerified || error !== undefined) {
    const verified = isVerified && { verificationId: verification.jti };
    const acknowledged = { cursor, ids: kept, ...verified, ...(error !== undefined && { error }) };
    if (!(await moveCursor(db, stream, acknowledged))) return undefined;
  }
  const all = verification === undefined ? inLog : [verification, ...inLog];
  const events = all.filter(({ jti }) => !known.has(jti));
  return { events, hasMore: end !== undefined && (await hasWaiting(log, stream, end, known)) };
}

const areSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((each, index) => each === others[index]);

async function hasWaiting(...place: Parameters<typeof passOver>): Promise<boolean> {
  const { entries, end } = await passOver(...place);
  return entries.length > 0 || end !== undefined;
}

/** The result of `passOver`. */
interface Reached {
  readonly cursor: Position;
  /** The entries after it, the first of which has an event that is not acknowledged. */
  readonly entries: readonly EntryEvents[];
  /** Up to where the log was searched; undefined if there is nothing after that, or it waits for the org. */
  readonly end: Position | undefined;
}

/** Finds the first event that is not acknowledged. */
async function passOver(
  log: Pick<LogOfStream, "next">,
  stream: StoredStream,
  from: Position,
  known: ReadonlySet<string>,
): Promise<Reached> {
  let cursor = from;
  for (let piece = 0; piece < maxPieces; piece++) {
    const ahead = await log.next(stream, cursor);
    if (ahead === undefined) return { cursor: { ...cursor, position: afterAll }, entries: [], end: undefined };
    const { entries, end, isHeld } = ahead;
    const waiting = entries.findIndex(({ events }) => events.some(({ jti }) => !known.has(jti)));
    if (waiting !== -1) {
      const passed = entries[waiting - 1];
      return { cursor: passed?.position ?? cursor, entries: entries.slice(waiting), end: isHeld ? undefined : end };
    }
    cursor = end;
    if (isHeld) return { cursor, entries: [], end: undefined };
  }
  return { cursor, entries: [], end: cursor };
}
