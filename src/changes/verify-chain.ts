// Checks that entries of a log are those that were written, in their order, with nothing between them left out.
import type { Proof } from "./entry-proof.ts";
import { type CommittedField, commit, committedFields, hashOf, noHash } from "./entry-record.ts";

/** What the checks read of a record. */
interface ReadRecord {
  readonly org_id: string;
  readonly revision: string;
  readonly position: number;
  readonly chain_start: string;
  readonly timeline: number | null;
}

/** An entry that is not as it was written, or does not follow the one before it. */
export interface ChainFault {
  readonly orgId: string;
  readonly revision: string;
  readonly position: number;
  readonly problem: string;
}

export interface ChainCheck {
  /** Checks the next entry. The entries of an org come in their order; those of several orgs can be mixed. */
  readonly add: (proof: Proof) => ChainFault | undefined;
  /** Whether the hash is that of an entry which was made of the one before it: a hash alone can be copied. */
  readonly isProved: (hash: string) => boolean;
  /** The hash of the last entry of each org, by its id. */
  readonly heads: ReadonlyMap<string, string>;
  /** The entries before which the database was promoted or restored, so that others may be lost. */
  readonly breaks: readonly Omit<ChainFault, "problem">[];
  /** The entries with which another chain of an org begins, after others of it: nothing ties it to these. */
  readonly restarts: readonly Restart[];
}

export interface Restart {
  readonly orgId: string;
  readonly revision: string;
  /** The revision of the last entry before it. */
  readonly last: string;
}

/**
 * @param before the hashes of the entries before the first ones, by org; without one, the first entry is taken as it is.
 * @param noted the hashes of which `isProved` can tell.
 */
export function checkChains(
  before: ReadonlyMap<string, string> = new Map(),
  noted: ReadonlySet<string> = new Set(),
): ChainCheck {
  const proved = new Set<string>();
  const heads = new Map(before);
  const timelines = new Map<string, number>();
  const lastRevisions = new Map<string, string>();
  const breaks: Omit<ChainFault, "problem">[] = [];
  const restarts: Restart[] = [];
  return {
    heads,
    breaks,
    restarts,
    isProved: (hash) => proved.has(hash),
    add(proof) {
      const {
        org_id: orgId,
        revision,
        position,
        chain_start: start,
        timeline,
      } = JSON.parse(proof.record) as ReadRecord;
      const last = timelines.get(orgId);
      if (timeline !== null) timelines.set(orgId, timeline);
      if (timeline !== null && last !== undefined && last !== timeline) breaks.push({ orgId, revision, position });
      const isFirst = start === revision && position === 0;
      const previous = isFirst ? noHash : heads.get(orgId);
      heads.set(orgId, proof.hash);
      const lastRevision = lastRevisions.get(orgId);
      lastRevisions.set(orgId, revision);
      const isRestart = isFirst && lastRevision !== undefined;
      const isLater = !isRestart || isLaterNumber(revision, lastRevision);
      if (isRestart && isLater) restarts.push({ orgId, revision, last: lastRevision });
      const problem = findProblem(proof, previous) ?? (isLater ? undefined : notLater);
      if (problem === undefined && previous !== undefined && noted.has(proof.hash)) proved.add(proof.hash);
      return problem === undefined ? undefined : { orgId, revision, position, problem };
    },
  };
}

/** Compares the numbers with which revisions begin, of the same length each. What is no revision has none. */
const isLaterNumber = (revision: string, other: string): boolean => revision.slice(0, 18) > other.slice(0, 18);

const notLater = "a chain begins with it, though its revision is not later than the one before";

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
