// A revision is a point in the history of an org. Its number counts the writes in the org. Its token is random and tells apart
// two histories that use the same numbers: after a failover that loses the last transactions, or a restore from a backup, the
// next writes get numbers that were used before, but never the same tokens.
import { randomUUID } from "node:crypto";
import type { Orgs } from "../database/schema.ts";

/**
 * The head of an org's change log, from a read of the database. A revision has the form of a UUID: 8 bytes of number and 8
 * bytes of token. It is stored as one, sorts by its number, and is opaque to clients.
 */
export interface LogHead {
  readonly revision: string;
  /** When the read started, in milliseconds of this process's own clock. */
  readonly readAt: number;
}

/** The state of an org, from a read that started after it was requested. */
export interface OrgHead extends LogHead {
  readonly id: string;
  readonly name: string;
  readonly customer_id: string;
  readonly state: Orgs["state"];
  readonly delete_time: Date | null;
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

/** Returns the first revision of an org: its creation. */
export function firstRevision(): string {
  return withToken(1n);
}

/** Returns a revision that follows another one. */
export function nextRevision(revision: string): string {
  return withToken(numberOf(revision) + 1n);
}

/** Returns the revision's number. Numbers have no gaps. */
export function numberOf(revision: string): bigint {
  return BigInt(`0x${revision.slice(0, 18).replaceAll("-", "")}`);
}

/** Returns a text that sorts after the next revisions, so many of them, and before those that follow. */
export function endOfNext(revision: string, count: number): string {
  return `${digitsOf(numberOf(revision) + BigInt(count))}-ffff-ffffffffffff`;
}

/** Whether a text has the form of a revision. */
export function isRevision(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
}

function withToken(number: bigint): string {
  // The second half of a version 4 UUID has 62 random bits.
  return `${digitsOf(number)}-${randomUUID().slice(19)}`;
}

function digitsOf(number: bigint): string {
  const digits = number.toString(16).padStart(16, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12)}`;
}
