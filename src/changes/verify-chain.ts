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
  const breaks: Omit<ChainFault, "problem">[] = [];
  return {
    heads,
    breaks,
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
      const problem = findProblem(proof, previous);
      if (problem === undefined && previous !== undefined && noted.has(proof.hash)) proved.add(proof.hash);
      return problem === undefined ? undefined : { orgId, revision, position, problem };
    },
  };
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
