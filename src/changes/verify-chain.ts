// Checks that entries of a log are those that were written, in their order, with nothing between them left out.
import type { Proof } from "./entry-proof.ts";
import { type CommittedField, commit, committedFields, hashOf, noHash } from "./entry-record.ts";
import { isRevision, numberOf } from "./revision.ts";

/** What the checks read of a record. */
interface ReadRecord {
  /** Null in the log of a customer. */
  readonly org_id: string | null;
  readonly customer_id?: string;
  readonly revision: string;
  readonly position: number;
  readonly chain_start: string;
  readonly timeline: number | null;
}

/** An entry that is not as it was written, or does not follow the one before it. */
export interface ChainFault {
  /** The id of the org or the customer whose log it is. */
  readonly logId: string;
  readonly revision: string;
  readonly position: number;
  readonly problem: string;
}

/** A hash that was noted. */
interface Noted {
  readonly hash: string;
  /** Of a signed head. */
  readonly logId?: string;
  readonly revision?: string;
}

export interface ChainCheck {
  /** Checks the next entry. The entries of a log come in their order; those of several logs can be mixed. */
  readonly add: (proof: Proof) => ChainFault | undefined;
  /** Notes a hash, before its entry comes, or directly after it. */
  readonly note: (noted: Noted) => void;
  /**
   * Whether a hash that was noted is that of an entry which was made of the one before it, since a hash alone can be copied, or of which the
   * first entry was made.
   */
  readonly isProved: (hash: string) => boolean;
  /** The hash of the last entry of each log, by the id of its org or customer. */
  readonly heads: ReadonlyMap<string, string>;
  /** The first entries of logs that were taken as they are: nothing shows that they were written, and what was before them. */
  readonly unproved: readonly Omit<ChainFault, "problem">[];
  /** The entries before which the database was promoted or restored, so that others may be lost. */
  readonly breaks: readonly Omit<ChainFault, "problem">[];
  /** The entries with which another chain of a log begins, after others of it: nothing ties it to these. */
  readonly restarts: readonly Restart[];
}

interface Restart {
  readonly logId: string;
  readonly revision: string;
  /** The revision of the last entry before it. */
  readonly last: string;
}

/** The first entry of a log is taken as it is, unless it begins a chain, or the head of the revision before was noted. */
export function checkChains(): ChainCheck {
  const noted: Noted[] = [];
  const wanted = new Set<string>();
  const proved = new Set<string>();
  const heads = new Map<string, string>();
  /** The last entries that were made of those before them. */
  const made = new Map<string, string>();
  const timelines = new Map<string, number>();
  const lastRevisions = new Map<string, string>();
  const unproved: Omit<ChainFault, "problem">[] = [];
  const breaks: Omit<ChainFault, "problem">[] = [];
  const restarts: Restart[] = [];

  const previousOf = (record: ReadRecord): string | undefined => {
    if (beginsChain(record)) return noHash;
    const { revision, position } = record;
    const logId = logOf(record);
    if (heads.has(logId) || position !== 0) return heads.get(logId);
    return noted.find((each) => each.logId === logId && isNext(each.revision, revision))?.hash;
  };

  const restartOf = (record: ReadRecord) => {
    const last = lastRevisions.get(logOf(record));
    if (last === undefined || !beginsChain(record)) return undefined;
    return { last, isLater: isLaterNumber(record.revision, last) };
  };

  return {
    heads,
    unproved,
    breaks,
    restarts,
    isProved: (hash) => proved.has(hash),
    note(one) {
      noted.push(one);
      wanted.add(one.hash);
      if (one.logId !== undefined && made.get(one.logId) === one.hash) proved.add(one.hash);
    },
    add(proof) {
      const record = JSON.parse(proof.record) as ReadRecord;
      const { revision, position, timeline } = record;
      const logId = logOf(record);
      const last = timelines.get(logId);
      if (timeline !== null) timelines.set(logId, timeline);
      if (timeline !== null && last !== undefined && last !== timeline) breaks.push({ logId, revision, position });
      const [previous, isFirst] = [previousOf(record), !heads.has(logId)];
      const restart = restartOf(record);
      const problem = findProblem(proof, previous) ?? (restart?.isLater === false ? notLater : undefined);
      if (restart?.isLater === true) restarts.push({ logId, revision, last: restart.last });
      heads.set(logId, proof.hash);
      lastRevisions.set(logId, revision);
      made.delete(logId);
      if (problem !== undefined) return { logId, revision, position, problem };
      if (previous === undefined) {
        unproved.push({ logId, revision, position });
        return undefined;
      }
      made.set(logId, proof.hash);
      // The hash of an entry that was taken as it is may be copied, whatever follows it.
      for (const hash of isFirst ? [previous, proof.hash] : [proof.hash]) if (wanted.has(hash)) proved.add(hash);
      return undefined;
    },
  };
}

/** Returns the id of the org or the customer whose log has the record. */
const logOf = ({ org_id: orgId, customer_id: customerId = "" }: ReadRecord): string => orgId ?? customerId;

function beginsChain({ revision, position, chain_start: start }: ReadRecord): boolean {
  return start === revision && position === 0;
}

/** Compares the numbers with which revisions begin, of the same length each. What is no revision has none. */
const isLaterNumber = (revision: string, other: string): boolean => revision.slice(0, 18) > other.slice(0, 18);

const notLater = "a chain begins with it, though its revision is not later than the one before";

/** Whether a revision follows another one without one between them. */
function isNext(before: string | undefined, revision: string): boolean {
  return before !== undefined && [before, revision].every(isRevision) && numberOf(before) + 1n === numberOf(revision);
}

function findProblem({ record, hash, texts, keys }: Proof, previous: string | undefined): string | undefined {
  const commitments = JSON.parse(record) as Readonly<Record<CommittedField, string | null>>;
  for (const field of committedFields) {
    const [text, key] = [texts[field], keys[field]];
    if (text === undefined) continue;
    if (key === undefined || commit(key, text) !== commitments[field]) return `its ${field} is not what was written`;
  }
  if (previous === undefined || hashOf(previous, record) === hash) return undefined;
  return "it is not what was written, or an entry before it is missing or was changed";
}
