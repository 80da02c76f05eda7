import type { Proof } from "../changes/entry-proof.ts";
import { type ChainCheck, checkChains } from "../changes/verify-chain.ts";
import { readLines } from "./file/read-bounded-file.ts";
import { count } from "./plural.ts";
import { printable } from "./printable.ts";
import type { VerifyOptions } from "./verify-command.ts";

interface Verified {
  readonly entries: number;
  readonly faults: number;
}

/**
 * Checks a file of changes, line by line. Prints each fault, the last hash of each org, and how many changes and faults there are.
 *
 * @throws ImportError when the file cannot be read.
 * @throws Error when a line is no change in JSON.
 */
export async function verifyFile(
  file: string,
  { head = [] }: VerifyOptions,
  print: (line: string) => void,
): Promise<Verified> {
  const chains = checkChains(new Map(), new Set(head));
  let [entries, faults, number, unproved, withheld] = [0, 0, 0, 0, 0];
  for await (const line of readLines(file)) {
    number++;
    if (line.trim() === "") continue;
    const proof = readProof(line, number);
    // Changes from before there were proofs.
    if (proof === undefined) {
      unproved++;
      continue;
    }
    entries++;
    if (proof.texts.origin === undefined || proof.texts.resource_path === undefined) withheld++;
    const problem = problemOf(chains, proof, number);
    if (problem === undefined) continue;
    faults++;
    print(`line ${number}: ${problem}`);
  }
  const missing = head.filter((hash) => !chains.isProved(hash));
  for (const hash of missing)
    print(
      `${printable(hash)} is the hash of no change that follows another in the file: some were cut off or replaced, or it is the first`,
    );
  if (unproved > 0) print(`${count(unproved, "change")} without a proof, of which nothing shows that it was written`);
  if (withheld > 0) print(`${count(withheld, "change")} whose origin or path is withheld or was erased`);
  for (const { orgId, revision } of chains.breaks) {
    print(
      `${printable(orgId)}: the database was promoted or restored before ${printable(revision)}; changes may be lost there`,
    );
  }
  for (const { orgId, revision, last } of chains.restarts) {
    print(
      `${printable(orgId)}: another chain begins with ${printable(revision)}; nothing shows whether changes between it and ${printable(last)} are missing`,
    );
  }
  for (const [orgId, hash] of chains.heads) print(`${printable(orgId)} ends with ${printable(hash)}`);
  faults += missing.length;
  print(`${count(entries, "change")}, ${count(faults, "fault")}`);
  return { entries, faults };
}

function problemOf(chains: ChainCheck, proof: Proof, number: number): string | undefined {
  try {
    const fault = chains.add(proof);
    return fault && `the change ${printable(fault.revision)} ${printable(String(fault.position))}: ${fault.problem}`;
  } catch (cause) {
    throw new Error(`line ${number}: its record is no JSON`, { cause });
  }
}

function readProof(line: string, number: number): Proof | undefined {
  try {
    const { proof } = JSON.parse(line) as { proof?: Partial<Proof> | null };
    if (proof === undefined || proof === null) return undefined;
    const { record, hash, texts = {}, keys = {} } = proof;
    const areTexts = [texts, keys].every(isOfTexts);
    if (typeof record === "string" && typeof hash === "string" && areTexts) return { record, hash, texts, keys };
  } catch (cause) {
    throw new Error(`line ${number} is no JSON`, { cause });
  }
  throw new Error(
    `line ${number} has a proof that is not an object with the texts record and hash, and texts and keys by field`,
  );
}

function isOfTexts(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "string");
}
