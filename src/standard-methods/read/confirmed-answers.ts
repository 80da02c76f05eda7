// Answers to reads that are used again. What the rows of an org say changes only with the org's revision, so an answer that was
// read at a revision is the answer as long as the org has it. It is used only if a read of the revision that started after the
// request confirms that, as for access snapshots, so no answer is older than its request, on any server, after any failover. An
// answer that was read from several orgs needs the revisions of all. What ends by itself ends by the database's clock, which is
// read with the revisions.
import { hash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { OrgHeads } from "../../access/snapshots/org-heads.ts";
import type { OrgHead } from "../../changes/revision.ts";
import type { Caller } from "../../identity/caller.ts";
import { required } from "../../errors/required.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { createFairMemory } from "./fair-memory.ts";

/** A read of what is in some orgs. */
interface ConfirmedRead {
  /** All orgs that the answer depends on. The memory that it takes counts as that of the first. */
  readonly orgs: readonly [Reference, ...Reference[]];
  /** Everything else that the answer depends on: method, path and parameters. */
  readonly key: string;
  readonly caller: Pick<Caller, "orgId" | "orgHead" | "time" | "clientId" | "recentHeads">;
}

/** The response to a read. */
export interface ReadResponse<Value> {
  readonly message: Value;
  /** Whether later reads may get the same message. */
  readonly isReused: boolean;
}

/** A response that was made from rows. It is not reused if some of them change without a revision. */
export interface Answer<Value> extends ReadResponse<Value> {
  /** When the first of its rows ends, by the database's clock in milliseconds; Infinity if none does. */
  readonly endsAt: number;
}

type MakeAnswer<Value> = () => Promise<Answer<Value>>;

export interface ConfirmedAnswers {
  /** Returns the answer to a read. A message that is used again is the same one. It is frozen, so that nobody changes it by mistake. */
  answer<Value extends Message>(read: ConfirmedRead, make: MakeAnswer<Value>): Promise<ReadResponse<Value>>;
}

/** The state of an org, as far as it confirms an answer. */
type Head = Pick<OrgHead, "id" | "revision" | "now" | "delete_time">;

interface Kept extends ReadResponse<Message> {
  /** The orgs that it was read from, with their revisions, as text. */
  readonly revisions: string;
  readonly endsAt: number;
}

/** The maximum number of orgs of which reads without a kept answer are remembered, and of such reads of an org. */
const maxOrgsSeen = 1_000;
const maxSeenOfOrg = 1_000;

/** @param maxBytes about the maximum memory of all kept answers. */
export function createConfirmedAnswers(heads: OrgHeads, maxBytes: number): ConfirmedAnswers {
  const kept = createFairMemory<Kept>(maxBytes);
  /** By the org as it was asked for. */
  const seenOfOrgs = new Map<string, Set<string>>();
  /** The reads under way, by revisions and key, for requests that found the orgs at the same revisions. */
  const flights = new Map<string, Promise<Kept | undefined>>();

  const headOf = async (org: Reference, caller?: ConfirmedRead["caller"]): Promise<Head | undefined> =>
    caller !== undefined && org.by === "id" && org.value === caller.orgId
      ? { id: caller.orgId, revision: caller.orgHead.revision, now: caller.time, delete_time: null }
      : heads([org], caller);

  /** Returns the heads of orgs; undefined if one does not exist, or is deleted: what is in those is purged without revisions. */
  const headsOf = async (
    orgs: readonly Reference[],
    caller?: ConfirmedRead["caller"],
  ): Promise<readonly Head[] | undefined> => {
    const found = await Promise.all(orgs.map((org) => headOf(org, caller)));
    const living = found.filter((head) => head !== undefined && head.delete_time === null);
    return living.length === orgs.length ? (living as Head[]) : undefined;
  };

  /** Keeps an answer if it was read at the revisions. Returns undefined if it was not. */
  const confirm = async (
    made: Promise<Answer<Message>>,
    key: string,
    before: readonly Head[],
  ): Promise<Kept | undefined> => {
    const { message, isReused, endsAt } = await made;
    if (!isReused) return undefined;
    Object.freeze(message);
    const revisions = revisionsOf(before);
    // What was read between two reads of the same revisions was read at these.
    const after = await headsOf(before.map(({ id }) => ({ by: "id", value: id }))).catch(() => undefined);
    if (after === undefined || revisionsOf(after) !== revisions) return undefined;
    const bytes = sizeOf(message) + 2 * (key.length + revisions.length) + 500;
    const entry = { message, isReused, revisions, endsAt };
    kept.keep(key, required(before[0]).id, entry, bytes);
    return entry;
  };

  /**
   * Remembers a read. Returns whether it was remembered already: reads that come once, as those of a client that walks through all
   * pages, cost nothing more.
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
    async answer<Value extends Message>(
      { orgs, key: rest, caller }: ConfirmedRead,
      make: MakeAnswer<Value>,
    ): Promise<ReadResponse<Value>> {
      const asked = shortened(`${orgs.map(textOf).join(" ")} ${rest}`);
      if (kept.get(asked) === undefined && !noteRead(textOf(orgs[0]), asked)) return usedOnce(await make());
      const before = await headsOf(orgs, caller);
      if (before === undefined) return usedOnce(await make());
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
      const made = make();
      const confirmed = confirm(made, asked, before);
      flights.set(flight, confirmed);
      // The answer is right for this request, whether or not it is for others.
      void confirmed
        .catch(() => undefined)
        .finally(() => {
          if (flights.get(flight) === confirmed) flights.delete(flight);
        });
      return made;
    },
  };
}

function usedOnce<Value>({ message }: Answer<Value>): ReadResponse<Value> {
  return { message, isReused: false };
}

function textOf(org: Reference): string {
  return org.by === "any" ? "" : org.value;
}

function revisionsOf(heads: readonly Head[]): string {
  return heads.map(({ id, revision }) => `${id} ${revision}`).join(" ");
}

/** Callers choose the length of a filter, and many keys are remembered. */
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
