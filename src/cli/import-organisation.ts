import type { ClientConfig } from "../client-settings.ts";
import { type Clients, createClients } from "./calls/create-clients.ts";
import { explainFailure, nameFailure } from "./calls/explain-import-failure.ts";
import { ImportError } from "./import-error.ts";
import type { OrganisationFile } from "./file/organisation-file.ts";
import { type PreparedImport, prepareImport } from "./plan/prepare-import.ts";
import { type Progress, type ProgressStream, createProgress } from "./report/progress.ts";
import { type Connection, readConnection } from "./calls/read-connection.ts";
import { readOrganisationFile } from "./file/read-organisation-file.ts";
import { isAsFileSays, reportImport } from "./report/report-import.ts";
import { createRetry, isRateLimit } from "./calls/retry.ts";
import { type Outcome, runImport, tallyStages } from "./run-import.ts";

export interface ImportOptions {
  readonly server?: string;
  /** The same, by another flag. */
  readonly url?: string;
  readonly keyFile?: string;
  readonly org?: string;
  readonly dryRun?: boolean;
  readonly strict?: boolean;
  readonly skipUnknownMembers?: boolean;
  readonly concurrency: number;
  readonly verbose?: boolean;
}

/** Where an import prints, and how it ends: a process. */
export interface ImportTerminal {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: ProgressStream;
  exitCode?: number | string | null | undefined;
}

/** The delays before four retries, which together take up to ten seconds. */
const retryDelaysMs = [300, 900, 2_500, 6_000];

const noticeEveryMs = 10_000;

/** The exit code that shells report for a program that Ctrl-C ended. */
const interruptedExitCode = 130;

/** The exit code of --strict if the organisation is not as the file says. */
const differentExitCode = 2;

export async function importOrganisation(
  file: string,
  options: ImportOptions,
  config: ClientConfig,
  terminal: ImportTerminal,
): Promise<void> {
  const startedAt = performance.now();
  const organisation = await readOrganisationFile(file, options);
  const connection = await readConnection(options, config);
  const progress = createProgress(terminal.stderr);
  const stop = new AbortController();
  const interrupt = (): void => {
    if (stop.signal.aborted) process.exit(interruptedExitCode);
    stop.abort();
    progress.note("Stopping after the requests in flight; press Ctrl-C again to stop immediately.");
  };
  process.on("SIGINT", interrupt);
  const retry = createRetry({
    delaysMs: retryDelaysMs,
    signal: stop.signal,
    onRetry: createRetryNotice(connection.url, progress),
  });
  const clients = createClients(connection.url, connection.apiKey, retry);
  const result = await bringAbout(organisation, clients, options, progress, stop.signal)
    .catch((error: unknown) => {
      if (error instanceof ImportError) throw error;
      if (!stop.signal.aborted) throw new ImportError(explainFailure(error, connection));
      return undefined;
    })
    .finally(() => process.off("SIGINT", interrupt));

  if (result === undefined) {
    terminal.stderr.write("Stopped; nothing was changed.\n");
    terminal.exitCode = interruptedExitCode;
    return;
  }
  const elapsedMs = performance.now() - startedAt;
  const { dryRun = false, verbose = false } = options;
  const { outcome, isRefused, prepared } = result;
  const reportOptions = { url: connection.url, dryRun, isRefused, verbose, elapsedMs };
  terminal.stdout.write(reportImport(prepared, outcome, reportOptions));
  if (outcome.end === undefined) {
    if (isRefused) terminal.exitCode = differentExitCode;
    return;
  }
  terminal.stderr.write(`\n${explainEnd(outcome.end, connection)}\n`);
  terminal.exitCode = outcome.end.reason === "stopped" ? interruptedExitCode : 1;
}

interface Result {
  readonly prepared: PreparedImport;
  readonly outcome: Outcome;
  /** Whether --strict kept the import from changing anything. */
  readonly isRefused: boolean;
}

/** Reads the existing resources, compares them with the file, and creates the missing ones. */
async function bringAbout(
  file: OrganisationFile,
  clients: Clients,
  { org, dryRun = false, strict = false, concurrency }: ImportOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<Result> {
  const prepared = await prepareImport(clients, file, org);
  const { stages } = prepared;
  const isRefused = strict && !isAsFileSays(prepared);
  if (dryRun || isRefused) return { prepared, isRefused, outcome: { tallies: tallyStages(stages) } };
  return { prepared, isRefused, outcome: await runImport(clients, stages, { concurrency, signal, progress }) };
}

function explainEnd(end: NonNullable<Outcome["end"]>, connection: Connection): string {
  const resume = "The resources created so far are kept; run the same command again to continue.";
  if (end.reason === "stopped") return `Stopped. ${resume}`;
  return `Creating ${end.path} failed. ${explainFailure(end.error, connection)}\n${resume}`;
}

/** Reports what the import waits for, once for all requests that wait. */
function createRetryNotice(url: string, progress: Progress): (error: unknown, waitMs: number) => void {
  let quietUntil = 0;
  return (error, waitMs) => {
    const now = performance.now();
    if (now < quietUntil) return;
    quietUntil = now + Math.max(noticeEveryMs, waitMs);
    progress.note(
      isRateLimit(error)
        ? `The service at ${url} limits the rate of requests; continuing in ${Math.ceil(waitMs / 1_000)} s.`
        : `The service at ${url} does not answer (${nameFailure(error)}); trying again.`,
    );
  };
}
