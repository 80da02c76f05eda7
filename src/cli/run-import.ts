import { Code, ConnectError } from "@connectrpc/connect";
import pMap from "p-map";
import type { Clients } from "./calls/create-clients.ts";
import { type Creation, type Kind, batchParentOf, sendBatch, sendCreation } from "./plan/creation.ts";
import type { Stage } from "./plan/plan-import.ts";
import type { Progress } from "./report/progress.ts";
import { isThere } from "./plan/read-existing.ts";
import { isTransient } from "./calls/retry.ts";

export interface Tally {
  readonly kind: Kind;
  created: number;
  existing: number;
  /** Not created, because the import ended early. */
  missing: number;
}

/** The outcome of an import. Resources that it created stay, even if it failed. */
export interface Outcome {
  readonly tallies: readonly Readonly<Tally>[];
  /** Why the import ended early; undefined if it is complete. */
  readonly end?:
    | { readonly reason: "stopped" }
    | { readonly reason: "failed"; readonly path: string; readonly error: unknown };
}

export interface ImportOptions {
  readonly concurrency: number;
  /** Stops the import after the requests in flight. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

export async function runImport(clients: Clients, stages: readonly Stage[], options: ImportOptions): Promise<Outcome> {
  const { concurrency, signal, progress } = options;
  const tallies = tallyStages(stages);
  let failure: { path: string; error: unknown } | undefined;
  for (const [position, { kind, missing }] of stages.entries()) {
    const tally = tallies[position] as Tally;
    progress.start(kind, missing.length);
    const isOver = (): boolean => failure !== undefined || signal.aborted;
    const count = (outcome: "created" | "existing"): void => {
      tally[outcome]++;
      tally.missing--;
      progress.advance();
    };
    const create = async (creation: Creation): Promise<void> => {
      if (isOver()) return;
      try {
        count(await createIfMissing(clients, creation));
      } catch (error) {
        failure ??= { path: creation.path, error };
      }
    };
    const createBatch = async (batch: Batch): Promise<void> => {
      if (isOver()) return;
      try {
        const isDone = batch.length > 1 && (await isCreated(clients, batch));
        for (const creation of batch) await (isDone ? count("created") : create(creation));
      } catch (error) {
        failure ??= { path: batch[0].path, error };
      }
    };
    await pMap(batchesOf(missing), createBatch, { concurrency });
    progress.end();
    if (signal.aborted) return { tallies, end: { reason: "stopped" } };
    if (failure !== undefined) return { tallies, end: { reason: "failed", ...failure } };
  }
  return { tallies };
}

export function tallyStages(stages: readonly Stage[]): Tally[] {
  return stages.map(({ kind, missing, existing }) => ({ kind, created: 0, existing, missing: missing.length }));
}

/** How many resources a request creates. It takes the service some 0.1 s, in which nothing else is written in the org. */
const mostInBatch = 1000;

type Batch = readonly [Creation, ...Creation[]];

function batchesOf(creations: readonly Creation[]): Batch[] {
  const batches: Batch[] = [];
  for (const ofParent of Map.groupBy(creations, batchParentOf).values()) {
    for (let start = 0; start < ofParent.length; start += mostInBatch) {
      const [first, ...others] = ofParent.slice(start, start + mostInBatch);
      if (first !== undefined) batches.push([first, ...others]);
    }
  }
  return batches;
}

/**
 * Creates a batch. Returns false if the service refuses one of its resources, which then is to be found, or if one of them is
 * there already.
 */
async function isCreated(clients: Clients, batch: Batch): Promise<boolean> {
  try {
    await sendBatch(clients, batch);
    return true;
  } catch (error) {
    if (!(error instanceof ConnectError) || isTransient(error)) throw error;
    return false;
  }
}

/** Creates a resource, unless another client, or an earlier attempt whose response was lost, has created it already. */
async function createIfMissing(clients: Clients, creation: Creation): Promise<"created" | "existing"> {
  try {
    await sendCreation(clients, creation);
    return "created";
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.AlreadyExists) throw error;
    if (!(await isThere(clients, creation))) throw error;
    return "existing";
  }
}
