// The entries of an org's log are a chain: each has a hash over itself and the one before it. The end of the chain is in the row of the org,
// which is locked while entries are appended, so that nothing has to be read for it.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Entry } from "../database/commits.ts";
import {
  type CommittedField,
  commit,
  committedTexts,
  fieldKey,
  hashOf,
  noHash,
  recordOf,
  saltBytes,
} from "./entry-record.ts";
import { takeRandomBytes } from "./random-bytes.ts";

/** The end of a chain. */
export interface ChainEnd {
  /** The revision from which the chain holds. */
  readonly start: string;
  /** The hash of the last entry, in hexadecimal digits. */
  readonly hash: string;
}

interface HeadColumns {
  readonly revision: string;
  readonly chain_revision: string | null;
  readonly chain_start: string | null;
  readonly chain_hash: Buffer | null;
}

/**
 * Returns the end of the chain of an org; undefined if the next entry begins one, because there is none, or because a server of an earlier
 * version has written after its end.
 */
export function chainEndOf({ revision, ...end }: HeadColumns): ChainEnd | undefined {
  if (end.chain_revision !== revision || end.chain_start === null || end.chain_hash === null) return undefined;
  return { start: end.chain_start, hash: end.chain_hash.toString("hex") };
}

/** Entries with their hashes, and the end of the chain after the last of them. */
export interface Sealed {
  readonly entries: readonly Entry[];
  readonly end: ChainEnd | undefined;
}

/** Chains entries to those before them. A thousand updates take some 40 ms. */
export function seal(end: ChainEnd | undefined, entries: readonly Entry[]): Sealed {
  let last = end;
  const sealed = entries.map((entry) => {
    const each = sealOne(last, entry, takeRandomBytes(saltBytes).toString("hex"));
    last = each.end;
    return each.entry;
  });
  return { entries: sealed, end: last };
}

/** How long entries are hashed before other work on the event loop runs, in milliseconds. */
const turnMs = 4;

/** How many entries are hashed before the time is looked at. */
const few = 8;

/** Does the same for any number of entries, in turns. */
export async function sealInTurns(end: ChainEnd | undefined, entries: readonly Entry[]): Promise<Sealed> {
  const sealed: Entry[] = [];
  let last = end;
  let endOfTurn = performance.now() + turnMs;
  for (let at = 0; at < entries.length; at += few) {
    if (performance.now() > endOfTurn) {
      await nextTurn();
      endOfTurn = performance.now() + turnMs;
    }
    const some = seal(last, entries.slice(at, at + few));
    sealed.push(...some.entries);
    last = some.end;
  }
  return { entries: sealed, end: last };
}

function sealOne(
  end: ChainEnd | undefined,
  entry: Entry,
  salt: string,
): { readonly entry: Entry; readonly end: ChainEnd } {
  const start = end?.start ?? entry.revision;
  const texts = committedTexts(entry);
  const commitTo = (field: CommittedField): string | null => {
    const text = texts[field];
    return text === null ? null : commit(fieldKey(salt, field), text);
  };
  const commitments = {
    after: commitTo("after"),
    before: commitTo("before"),
    origin: commitTo("origin"),
    resource_path: commitTo("resource_path"),
  };
  const sealed = { ...entry, chain_start: start };
  const hash = hashOf(end?.hash ?? noHash, recordOf(sealed, commitments));
  return { entry: { ...sealed, hash: bytes(hash), salt: bytes(salt) }, end: { start, hash } };
}

/** Returns bytes as PostgreSQL reads them from text, also in JSON. */
export const bytes = (hexadecimal: string): string => `\\x${hexadecimal}`;
