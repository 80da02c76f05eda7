import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Proof } from "../changes/entry-proof.ts";
import { type ChainCheck, checkChains } from "../changes/verify-chain.ts";
import { compareProof } from "../events/changes/compare-proof.ts";
import { createLoggedMessage } from "../events/changes/logged-messages.ts";
import { registry } from "../resource-registry.ts";
import { readLines } from "./file/read-bounded-file.ts";
import { count } from "./plural.ts";
import { printable } from "./printable.ts";
import type { VerifyOptions } from "./verify-command.ts";
import { checkHeads, headIn, readKeys, readNoted } from "./verify-heads.ts";

const loggedMessage = createLoggedMessage(registry);

interface Verified {
  readonly entries: number;
  readonly faults: number;
}

/**
 * Checks a file of changes, line by line: their chain, what they show against what is proved, and the signed heads among them. Prints each
 * fault, the last hash of each log, and how many changes and faults there are.
 *
 * @throws ImportError when a file cannot be read.
 * @throws Error when a line is no change in JSON.
 */
export async function verifyFile(
  file: string,
  { head = [], keys }: VerifyOptions,
  print: (line: string) => void,
): Promise<Verified> {
  const chains = checkChains();
  const heads = checkHeads(chains, keys === undefined ? undefined : await readKeys(keys));
  const hashes: string[] = [];
  let [entries, faults, number, unproved] = [0, 0, 0, 0];
  const fault = (text: string | undefined): void => {
    if (text === undefined) return;
    faults++;
    print(text);
  };
  for (const each of head) {
    const noted = await readNoted(each);
    if ("hash" in noted) {
      hashes.push(noted.hash);
      chains.note(noted);
    } else for (const jws of noted.heads) fault(await heads.take(jws));
  }
  const missing = countMissing();
  for await (const line of readLines(file)) {
    number++;
    if (line.trim() === "") continue;
    const change = readLine(line, number);
    const jws = change.proof === undefined ? headIn(change) : undefined;
    if (jws !== undefined) {
      const problem = await heads.take(jws, change);
      fault(problem && `line ${number}: ${problem}`);
      continue;
    }
    const proof = readProof(change, number);
    // Changes from before there were proofs.
    if (proof === undefined) {
      unproved++;
      continue;
    }
    entries++;
    missing.add(change);
    for (const problem of problemsOf(chains, change, proof, number)) fault(`line ${number}: ${problem}`);
  }
  for (const hash of hashes.filter((each) => !chains.isProved(each))) {
    fault(
      `${printable(hash)} is the hash of no change that follows another in the file: some were cut off or replaced, or it is the first`,
    );
  }
  faults += heads.report(print);
  if (unproved > 0) print(`${count(unproved, "change")} without a proof, of which nothing shows that it was written`);
  missing.report(print);
  for (const { logId, revision, position } of chains.unproved) {
    print(
      `${printable(logId)}: the file begins with ${printable(revision)} ${printable(String(position))}, which is taken as it is; nothing shows what was before it`,
    );
  }
  for (const { logId, revision } of chains.breaks) {
    print(
      `${printable(logId)}: the database was promoted or restored before ${printable(revision)}; changes may be lost there`,
    );
  }
  for (const { logId, revision, last } of chains.restarts) {
    print(
      `${printable(logId)}: another chain begins with ${printable(revision)}; nothing shows whether changes between it and ${printable(last)} are missing`,
    );
  }
  for (const [logId, hash] of chains.heads) print(`${printable(logId)} ends with ${printable(hash)}`);
  print(`${count(entries, "change")}, ${count(faults, "fault")}`);
  return { entries, faults };
}

/** Counts changes of which something is withheld or was erased. */
function countMissing() {
  let [withheld, erased] = [0, 0];
  const has = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
  return {
    add(change: Line): void {
      if (has(change["withheld_fields"] ?? change["withheldFields"])) withheld++;
      if (has(change["erased_fields"] ?? change["erasedFields"])) erased++;
    },
    report(print: (line: string) => void): void {
      if (withheld > 0) print(`${count(withheld, "change")} of which something is withheld from who has exported them`);
      if (erased > 0) print(`${count(erased, "change")} of which something was erased`);
    },
  };
}

/** Returns what is wrong with a change: in its chain, or else in what it shows. */
function problemsOf(chains: ChainCheck, change: Line, proof: Proof, number: number): string[] {
  const name = ({ revision, position }: { readonly revision: string; readonly position: number }): string =>
    `the change ${printable(revision)} ${printable(String(position))}`;
  try {
    const fault = chains.add(proof);
    if (fault !== undefined) return [`${name(fault)}: ${fault.problem}`];
    // Nothing is shown beside the proof.
    if (Object.keys(change).length === 1) return [];
    const record = JSON.parse(proof.record) as { readonly revision: string; readonly position: number };
    return compareProof(change, proof, loggedMessage).map((problem) => `${name(record)}: ${printable(problem)}`);
  } catch (cause) {
    throw new Error(`line ${number}: its record is no JSON`, { cause });
  }
}

/** A line of the file. */
type Line = JsonObject & { readonly proof?: JsonValue };

function readLine(line: string, number: number): Line {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new Error(`line ${number} is no JSON`, { cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Line;
  throw new Error(`line ${number} is no JSON of an object`);
}

function readProof({ proof }: Line, number: number): Proof | undefined {
  if (proof === undefined || proof === null) return undefined;
  const { record, hash, texts = {}, keys = {} } = proof as Partial<Record<keyof Proof, unknown>>;
  if (typeof record === "string" && typeof hash === "string" && isOfTexts(texts) && isOfTexts(keys)) {
    return { record, hash, texts, keys };
  }
  throw new Error(
    `line ${number} has a proof that is not an object with the texts record and hash, and texts and keys by field`,
  );
}

function isOfTexts(value: unknown): value is Record<string, string> {
  return typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "string");
}
