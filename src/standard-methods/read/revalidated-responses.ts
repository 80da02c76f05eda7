// Responses to reads that are reused. Two rules make them right:
// - What the rows of an org say changes only with the org's revision. So a response that was read at a revision is right as long as
//   the org has it. One that was read from several orgs needs the revisions of all.
// - A response is reused only if a read of the revisions that began after the request finds them unchanged, as for access snapshots. So
//   none is older than its request, on any server and after any failover.
// A row may also end by itself, at its `expire_time`. The earliest such end is kept with the response, and compared with the database's
// clock, which is read with the revisions.
import { hash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { OrgHeads } from "../../access/snapshots/org-heads.ts";
import type { OrgHead } from "../../changes/revision.ts";
import type { Caller } from "../../identity/caller.ts";
import { required } from "../../errors/required.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { createFairMemory } from "./fair-memory.ts";

/** A read of what is in some orgs. */
interface RevalidatedRead {
  /** All orgs whose rows the response contains. Its memory counts for the first of them. */
  readonly orgs: readonly [Reference, ...Reference[]];
  /** Everything else that the response depends on: method, path and parameters. */
  readonly key: string;
  readonly caller: Pick<Caller, "orgId" | "orgHead" | "time" | "clientId" | "recentHeads">;
}

/** The response to a read. */
export interface ReadResponse<Value> {
  readonly message: Value;
  /** Whether later reads may get the same message. */
  readonly isReused: boolean;
}

/** A response that was just read from the database. It is not to be reused if one of its rows can change without a revision. */
export interface FreshResponse<Value> extends ReadResponse<Value> {
  /** When the first of its rows expires, by the database's clock in milliseconds; Infinity if none does. */
  readonly endsAt: number;
}

type ReadFresh<Value> = () => Promise<FreshResponse<Value>>;

export interface RevalidatedResponses {
  /**
   * Returns the kept response to a read if the revisions of its orgs show that it is right, and otherwise reads a fresh one. A message
   * that is reused is always the same object. It is frozen, so that nobody changes it by mistake.
   */
  respond<Value extends Message>(read: RevalidatedRead, readFresh: ReadFresh<Value>): Promise<ReadResponse<Value>>;
}

/** What the state of an org says about responses that were read from it. */
type Head = Pick<OrgHead, "id" | "revision" | "now" | "delete_time">;

interface Kept extends FreshResponse<Message> {
  /** The orgs that it was read from, with their revisions, as text. */
  readonly revisions: string;
}

/** The most orgs for which the keys of reads without a kept response are remembered, and the most keys for each. */
const maxOrgsSeen = 1_000;
const maxSeenOfOrg = 1_000;

/** @param maxBytes about the maximum memory of all kept responses. */
export function createRevalidatedResponses(heads: OrgHeads, maxBytes: number): RevalidatedResponses {
  const kept = createFairMemory<Kept>(maxBytes);
  /** The keys of reads that came once, by their first org, as the request names it. */
  const seenOfOrgs = new Map<string, Set<string>>();
  /** The reads under way, by revisions and key. Requests that find the orgs at the same revisions share them. */
  const flights = new Map<string, Promise<Kept | undefined>>();

  const headOf = async (org: Reference, caller?: RevalidatedRead["caller"]): Promise<Head | undefined> =>
    caller !== undefined && org.by === "id" && org.value === caller.orgId
      ? { id: caller.orgId, revision: caller.orgHead.revision, now: caller.time, delete_time: null }
      : heads([org], caller);

  /** Returns the heads of orgs; undefined if one does not exist, or is deleted: what is in those is purged without revisions. */
  const headsOf = async (
    orgs: readonly Reference[],
    caller?: RevalidatedRead["caller"],
  ): Promise<readonly Head[] | undefined> => {
    const found = await Promise.all(orgs.map((org) => headOf(org, caller)));
    const living = found.filter((head) => head !== undefined && head.delete_time === null);
    return living.length === orgs.length ? (living as Head[]) : undefined;
  };

  /** Keeps a fresh response if its orgs had the same revisions before and after it was read. Returns undefined if they had not. */
  const keepIfUnchanged = async (
    fresh: Promise<FreshResponse<Message>>,
    key: string,
    before: readonly Head[],
  ): Promise<Kept | undefined> => {
    const { message, isReused, endsAt } = await fresh;
    if (!isReused) return undefined;
    Object.freeze(message);
    const revisions = revisionsOf(before);
    const after = await headsOf(before.map(({ id }) => ({ by: "id", value: id }))).catch(() => undefined);
    if (after === undefined || revisionsOf(after) !== revisions) return undefined;
    const bytes = sizeOf(message) + 2 * (key.length + revisions.length) + 500;
    const entry = { message, isReused, revisions, endsAt };
    kept.keep(key, required(before[0]).id, entry, bytes);
    return entry;
  };

  /**
   * Remembers the key of a read. Returns whether it was remembered already. A response is kept only from the second read on, so the reads
   * of a client that walks through all pages, which come once, take no memory.
   */
  const noteRead = (org: string, key: string): boolean => {
    let seen = seenOfOrgs.get(org);
    if (seen?.has(key)) return true;
    if (seen === undefined || seen.size >= maxSeenOfOrg) seen = new Set();
    seen.add(key);
    seenOfOrgs.delete(org);
    seenOfOrgs.set(org, seen);
    for (const each of seenOfOrgs.keys()) {
      if (seenOfOrgs.size <= maxOrgsSeen) break;
      seenOfOrgs.delete(each);
    }
    return false;
  };

  return {
    async respond<Value extends Message>(
      { orgs, key: rest, caller }: RevalidatedRead,
      readFresh: ReadFresh<Value>,
    ): Promise<ReadResponse<Value>> {
      const asked = shortened(`${orgs.map(textOf).join(" ")} ${rest}`);
      if (kept.get(asked) === undefined && !noteRead(textOf(orgs[0]), asked)) return usedOnce(await readFresh());
      const before = await headsOf(orgs, caller);
      if (before === undefined) return usedOnce(await readFresh());
      const revisions = revisionsOf(before);
      const now = Math.max(...before.map((head) => head.now));
      const isRight = (entry: Kept): boolean => entry.revisions === revisions && entry.endsAt > now;
      const found = kept.get(asked);
      if (found !== undefined && isRight(found)) {
        kept.touch(asked);
        return found as Kept & ReadResponse<Value>;
      }
      const flight = `${revisions} ${asked}`;
      const pending = flights.get(flight);
      const shared = pending && (await pending.catch(() => undefined));
      if (shared !== undefined && isRight(shared)) return shared as Kept & ReadResponse<Value>;
      const fresh = readFresh();
      const keeping = keepIfUnchanged(fresh, asked, before);
      flights.set(flight, keeping);
      // This request does not wait for that: its own response is right even if an org has changed since.
      void keeping
        .catch(() => undefined)
        .finally(() => {
          if (flights.get(flight) === keeping) flights.delete(flight);
        });
      return fresh;
    },
  };
}

function usedOnce<Value>({ message }: FreshResponse<Value>): ReadResponse<Value> {
  return { message, isReused: false };
}

function textOf(org: Reference): string {
  return org.by === "any" ? "" : org.value;
}

function revisionsOf(heads: readonly Head[]): string {
  return heads.map(({ id, revision }) => `${id} ${revision}`).join(" ");
}

/** Bounds the length of keys, of which many are remembered: callers choose the length of a filter. */
function shortened(key: string): string {
  return key.length <= 200 ? key : hash("sha256", key, "base64");
}

/** Returns about the memory of a value and of two encodings of it, in bytes. In JSON, a control character takes six. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return 2 * value.length + 24 + 2 * Buffer.byteLength(JSON.stringify(value));
  if (typeof value !== "object" || value === null) return 24;
  if (value instanceof Uint8Array) return 4 * value.length + 100;
  let size = 100;
  for (const each of Object.values(value)) size += 24 + sizeOf(each);
  return size;
}
