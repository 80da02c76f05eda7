// Answers to reads that are used again. What the rows of an org say changes only with the org's revision, so an answer that was
// read at a revision is the answer as long as the org has it. It is used only if a read of the revision that started after the
// request confirms that, as for access snapshots, so no answer is older than its request, on any server, after any failover.
import { hash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { OrgHeads } from "../../access/snapshots/org-heads.ts";
import type { Caller } from "../../identity/caller.ts";
import { required } from "../../errors/required.ts";
import type { Reference } from "../../paths/parse-path.ts";

/** A read of what is in one org. */
interface ConfirmedRead {
  readonly org: Reference;
  /** Everything else that the answer depends on: method, path and parameters. */
  readonly key: string;
  readonly caller: Pick<Caller, "orgId" | "orgHead" | "clientId" | "askedHeads">;
}

/** An answer, and whether it may be used again: it must not contain rows that change without a revision. */
interface Answer<Value> {
  readonly message: Value;
  readonly isKept: boolean;
}

export interface ConfirmedAnswers {
  /** Returns the answer to a read. One that is used again is the same message, frozen. */
  answer<Value extends Message>(read: ConfirmedRead, make: () => Promise<Answer<Value>>): Promise<Value>;
}

interface Kept {
  readonly orgId: string;
  readonly revision: string;
  readonly message: Message;
  readonly bytes: number;
}

/** No org takes more than its part. */
const partOfOrg = 4;

/** How many reads are remembered that were asked for once. */
const maxSeenOnce = 10_000;

/** @param maxBytes about the maximum memory of all kept answers. */
export function createConfirmedAnswers(heads: OrgHeads, maxBytes: number): ConfirmedAnswers {
  /** In the order of last use, least recent first. */
  const kept = new Map<string, Kept>();
  /** The same keys by org, in the same order, and their bytes. */
  const ofOrgs = new Map<string, { readonly keys: Set<string>; bytes: number }>();
  const seenOnce = new Set<string>();
  /** The reads under way, by org, revision and key, for requests that found the org at the same revision. */
  const flights = new Map<string, Promise<Message | undefined>>();
  let total = 0;

  const drop = (key: string): void => {
    const entry = kept.get(key);
    if (entry === undefined) return;
    const { orgId, bytes } = entry;
    kept.delete(key);
    total -= bytes;
    const ofOrg = required(ofOrgs.get(orgId));
    ofOrg.keys.delete(key);
    ofOrg.bytes -= bytes;
    if (ofOrg.keys.size === 0) ofOrgs.delete(orgId);
  };

  /** Makes a kept entry the most recent one. */
  const touch = (key: string, entry: Kept): void => {
    kept.delete(key);
    kept.set(key, entry);
    const { keys } = required(ofOrgs.get(entry.orgId));
    keys.delete(key);
    keys.add(key);
  };

  const keep = (key: string, entry: Kept): void => {
    drop(key);
    const { orgId, bytes } = entry;
    if (bytes > maxBytes / partOfOrg) return;
    const ofOrg = ofOrgs.get(orgId) ?? { keys: new Set(), bytes: 0 };
    ofOrgs.set(orgId, ofOrg);
    kept.set(key, entry);
    total += bytes;
    ofOrg.keys.add(key);
    ofOrg.bytes += bytes;
    for (const each of ofOrg.keys) {
      if (ofOrg.bytes <= maxBytes / partOfOrg) break;
      drop(each);
    }
    for (const each of kept.keys()) {
      if (total <= maxBytes) break;
      drop(each);
    }
  };

  /** Keeps an answer if it was read at a revision. Returns undefined if it was not. */
  const confirm = async <Value extends Message>(
    made: Promise<Answer<Value>>,
    key: string,
    orgId: string,
    revision: string,
  ): Promise<Value | undefined> => {
    const { message, isKept } = await made;
    if (!isKept) return undefined;
    // What was read between two reads of the same revision was read at that revision.
    const after = await heads([{ by: "id", value: orgId }]).catch(() => undefined);
    if (after?.revision !== revision) return undefined;
    const bytes = 2 * sizeOf(message) + 2 * key.length + 500;
    keep(key, { orgId, revision, message: Object.freeze(message), bytes });
    return message;
  };

  /** Reads that come once, as those of a client that walks through all pages, cost nothing more. */
  const isRepeated = (key: string): boolean => {
    if (seenOnce.delete(key)) return true;
    if (seenOnce.size >= maxSeenOnce) seenOnce.clear();
    seenOnce.add(key);
    return false;
  };

  return {
    async answer<Value extends Message>(
      { org, key: rest, caller }: ConfirmedRead,
      make: () => Promise<Answer<Value>>,
    ): Promise<Value> {
      const isOwn = org.by === "id" && org.value === caller.orgId;
      const asked = shortened(`${org.by === "any" ? "" : org.value} ${rest}`);
      if (!isOwn && !kept.has(asked) && !isRepeated(asked)) return (await make()).message;
      const head = isOwn ? { ...caller.orgHead, id: caller.orgId } : await heads([org], caller);
      if (head === undefined) return (await make()).message;
      const found = kept.get(asked);
      if (found?.revision === head.revision && found.orgId === head.id) {
        touch(asked, found);
        return found.message as Value;
      }
      if (isOwn && found === undefined && !isRepeated(asked)) return (await make()).message;
      const { id: orgId, revision } = head;
      const flight = `${orgId} ${revision} ${asked}`;
      const pending = flights.get(flight);
      const shared = pending && (await pending.catch(() => undefined));
      if (shared !== undefined) return shared as Value;
      const made = make();
      const confirmed = confirm(made, asked, orgId, revision);
      flights.set(flight, confirmed);
      try {
        await confirmed;
      } finally {
        if (flights.get(flight) === confirmed) flights.delete(flight);
      }
      return (await made).message;
    },
  };
}

/** Callers choose the length of a filter, and many keys are remembered. */
function shortened(key: string): string {
  return key.length <= 200 ? key : hash("sha256", key, "base64");
}

/** Returns about the memory of a value, in bytes. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return 2 * value.length + 24;
  if (typeof value !== "object" || value === null) return 8;
  if (value instanceof Uint8Array) return value.length + 100;
  let size = 50;
  for (const each of Object.values(value)) size += 8 + sizeOf(each);
  return size;
}
