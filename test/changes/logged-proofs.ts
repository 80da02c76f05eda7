import { sql } from "kysely";
import { type Proof, type StoredEntry, entryTime, proofOf } from "../../src/changes/entry-proof.ts";
import { type ChainFault, checkChains } from "../../src/changes/verify-chain.ts";
import type { Database } from "../../src/database/database.ts";
import { required } from "../../src/errors/required.ts";

/** Returns the entries of an org as they are stored, in order. */
export async function storedEntries(database: Database, { id }: { id: string }): Promise<StoredEntry[]> {
  const { rows } = await sql<StoredEntry>`
    select changes.*, ${entryTime} as time_text from changes where org_id = ${id} order by revision, position`.execute(
    database.reads,
  );
  return rows;
}

/** Returns the proofs of all entries of an org, each of which must have one. */
export async function proofsOf(database: Database, org: { id: string }): Promise<Proof[]> {
  return (await storedEntries(database, org)).map((entry) => required(proofOf(entry)));
}

export function faultsOf(proofs: readonly Proof[]): ChainFault[] {
  const chains = checkChains();
  return proofs.map((proof) => chains.add(proof)).filter((fault) => fault !== undefined);
}
