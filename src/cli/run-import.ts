import { Code, ConnectError } from "@connectrpc/connect";
import type { Clients } from "./create-clients.ts";
import { type Creation, type Kind, sendCreation } from "./creation.ts";
import type { Stage } from "./plan-import.ts";
import type { Progress } from "./progress.ts";
import { isThere } from "./read-existing.ts";
import { runLimited } from "./run-limited.ts";

export interface Tally {
  readonly kind: Kind;
  created: number;
  existing: number;
  /** Not created, because the import ended before. */
  missing: number;
}

/** What became of an import. What was created stays, however it ended. */
export interface Outcome {
  readonly tallies: readonly Readonly<Tally>[];
  /** Why it ended before everything was created. */
  readonly end?:
    | { readonly reason: "stopped" }
    | { readonly reason: "failed"; readonly path: string; readonly error: unknown };
}

export interface ImportOptions {
  /** How many requests may be in flight. */
  readonly concurrency: number;
  /** Ends the import after what is in flight. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** Creates what is missing, a kind after the other. */
export async function runImport(clients: Clients, stages: readonly Stage[], options: ImportOptions): Promise<Outcome> {
  const { concurrency, signal, progress } = options;
  const tallies = tallyStages(stages);
  let failure: { path: string; error: unknown } | undefined;
  for (const [position, { kind, missing }] of stages.entries()) {
    const tally = tallies[position] as Tally;
    progress.start(kind, missing.length);
    await runLimited(missing, concurrency, signal, async (creation) => {
      try {
        tally[await createIfMissing(clients, creation)]++;
        tally.missing--;
        progress.advance();
      } catch (error) {
        failure ??= { path: creation.path, error };
        throw error;
      }
    }).catch(() => {});
    progress.end();
    if (signal.aborted) return { tallies, end: { reason: "stopped" } };
    if (failure !== undefined) return { tallies, end: { reason: "failed", ...failure } };
  }
  return { tallies };
}

/** How things stand before anything is done. */
export function tallyStages(stages: readonly Stage[]): Tally[] {
  return stages.map(({ kind, missing, existing }) => ({ kind, created: 0, existing, missing: missing.length }));
}

/** A resource may have come to be since, by somebody else or by a try of ours whose answer was lost. */
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
