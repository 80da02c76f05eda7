import { createClients } from "../../../src/cli/calls/create-clients.ts";
import { prepareImport } from "../../../src/cli/plan/prepare-import.ts";
import { readOrganisationFile } from "../../../src/cli/file/read-organisation-file.ts";
import { createRetry } from "../../../src/cli/calls/retry.ts";
import { type Outcome, runImport } from "../../../src/cli/run-import.ts";

interface Options {
  readonly org?: string;
  readonly concurrency?: number;
  /** Stops the import when this many resources were created or found. */
  readonly stopAfter?: number;
  /** Called for each response. */
  readonly onAnswered?: () => void;
}

/** Runs the import of `tenantry import` in this process. */
export async function importInto(
  server: { readonly url: string; readonly operatorKey: string },
  file: string,
  { org, concurrency = 8, stopAfter = Infinity, onAnswered = () => {} }: Options = {},
): Promise<Outcome> {
  const stop = new AbortController();
  const retry = createRetry({ delaysMs: [100, 500, 2_000], signal: stop.signal, onRetry: () => {} });
  const clients = createClients(server.url, server.operatorKey, retry);
  const { stages } = await prepareImport(clients, await readOrganisationFile(file), org);
  let answered = 0;
  const progress = {
    start: () => {},
    advance: () => {
      onAnswered();
      if (++answered >= stopAfter) stop.abort();
    },
    end: () => {},
    note: () => {},
  };
  return runImport(clients, stages, { concurrency, signal: stop.signal, progress });
}

/** Sums the tallies over all kinds. */
export function total({ tallies }: Outcome): { created: number; existing: number; missing: number } {
  const sum = (key: "created" | "existing" | "missing") => tallies.reduce((before, tally) => before + tally[key], 0);
  return { created: sum("created"), existing: sum("existing"), missing: sum("missing") };
}
