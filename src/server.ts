// Starts the service, for the command line and the tests: src/compose has its parts.
import type { Logger } from "pino";
import { rememberedMs } from "./access/engine/tables/token-table.ts";
import { registry } from "./resource-registry.ts";
import { findConsole } from "./console/console-files.ts";
import { composeHealth } from "./compose/health.ts";
import { composeJobs } from "./compose/jobs.ts";
import { composeReach } from "./compose/reach.ts";
import { composeMetrics } from "./compose/metrics.ts";
import { composeTracing } from "./compose/tracing.ts";
import { type Intervals, composeService } from "./compose/service.ts";
import type { Config } from "./config.ts";
import type { Health } from "./http/health/health.ts";
import { createSignInLink } from "./iam/sign-in/sign-in-links.ts";
import { noteIssuer } from "./installation/note-issuer.ts";
import { noteServerAddress } from "./installation/note-server-address.ts";
import { createSignInLinkFile, formatSignInLink, operatorOf } from "./installation/sign-in-link.ts";
import { startDatabase } from "./installation/start-database.ts";
import { startInstallation } from "./installation/start-installation.ts";
import { createWhenDatabaseAnswers } from "./installation/wait-for-database.ts";
import { closeWithJobs } from "./jobs/close-with-jobs.ts";
import { createRequestHandler } from "./request-handler.ts";
import { createServiceListener } from "./service-listener.ts";
import type { ProcessFailures } from "./measures/process-failures.ts";
import type { RunningJob } from "./timers/runs.ts";

export interface RunningServer {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /** Where metrics are, like `url`; undefined if they are not served. */
  readonly metricsUrl: string | undefined;
  /**
   * Reports the server as not ready for a time, in milliseconds, in which it still serves requests: load balancers stop sending
   * them before the listener closes.
   */
  drain(ms: number): Promise<void>;
  /** Stops accepting requests, lets those in flight finish, then stops everything that the server started. */
  close(): Promise<void>;
}

const intervals: Intervals = { rateWindowMs: 60_000, checkpointMs: 15_000 };

const unbuiltConsole = "there is no console: it was not built; npm ci builds it, and node scripts/build.ts after that";

/**
 * Starts the service.
 *
 * @param onFatal called when the server cannot continue; the caller should close it and exit.
 * @param shorter intervals of tests.
 * @param showSignInLink called at the first start with the link with which the operator signs in once. By default, it is
 *   written to the data directory.
 * @param stopping ends the wait for a database that cannot be reached, and a migration.
 * @param failures of the process, which are among the metrics.
 * @throws the reason of the signal, or an Error that says what to change: a setting, the database, the data directory or the port.
 */
export async function startServer(
  config: Config,
  logger: Logger,
  onFatal: (error: Error) => void,
  shorter: Partial<Intervals> = {},
  showSignInLink: (link: string) => Promise<void> = createSignInLinkFile(config.dataDirectory),
  stopping: AbortSignal = new AbortController().signal,
  failures: Readonly<ProcessFailures> = { rejections: 0 },
): Promise<RunningServer> {
  const metrics = composeMetrics(config, logger);
  const tracing = await composeTracing(config, logger);
  const listener = createServiceListener(config, logger, metrics?.onEnd, tracing);
  let health: Health | undefined;
  let endStreams = (): void => {};
  // Functions that stop what was started, in the order of the start.
  const started: (() => Promise<void>)[] = tracing === undefined ? [] : [tracing.close];
  const close = async (): Promise<void> => {
    health?.startDraining();
    endStreams();
    await listener.close(config.shutdownGraceMs);
    for (let stop = started.pop(); stop !== undefined; stop = started.pop()) await stop();
  };

  try {
    const whenAnswers = createWhenDatabaseAnswers({ logger, onWait: () => listener.open(), signal: stopping });
    const running = composeReach(config, await startDatabase(config, logger, onFatal, whenAnswers, stopping), logger);
    const jobs: RunningJob[] = [];
    started.push(() => closeWithJobs(jobs, running.close));
    const { database, reach } = running;
    const ofInstallation = { running, registry, jobs, keptMs: rememberedMs, logger, whenAnswers };
    const { installation, isNew, sealer, signingKeys, heldLog } = await startInstallation(config, ofInstallation);
    // The port is known when the listener has started.
    let { port } = config;
    const issuer = () => config.issuer ?? `http://localhost:${port}`;
    const parts = { database, registry, installation, sealer, signingKeys, issuer, logger, ...intervals, ...shorter };
    const service = composeService(config, { ...parts, tracing, reach });
    endStreams = () => service.handlers.watches.close();
    started.push(service.access.job.close, async () => service.mailer?.close());
    const { jobs: ofService, deliveries } = composeJobs(config, { ...service.handlers, ...service.access }, logger);
    jobs.push(service.identity.job, service.access.usesJob, service.accessLog.job, ...ofService);
    if (metrics !== undefined) started.push(metrics.close);
    const measured = { openExchanges: listener.openExchanges, database, service, jobs, deliveries, heldLog, failures };
    const metricsUrl = await metrics?.open({ ...measured, reach });
    health = composeHealth(database, logger, reach);
    // From when the server listens, it outlives failures of the database.
    const signInCode = isNew
      ? await whenAnswers(() => createSignInLink(database, operatorOf(installation)))
      : undefined;
    listener.serve(createRequestHandler(config, service, health, findConsole()));
    const opened = await listener.open();
    port = opened.port;
    started.push(await noteServerAddress(config.dataDirectory, opened, logger));
    logger.info(`listening on ${opened.url}`);
    logger.info(findConsole() === undefined ? unbuiltConsole : `the console is at ${issuer()}/console/`);
    void noteIssuer(database, issuer(), logger);
    if (signInCode !== undefined) await showSignInLink(formatSignInLink(issuer(), signInCode));
    return {
      url: opened.url,
      metricsUrl,
      async drain(ms) {
        health?.startDraining();
        await listener.drain(ms);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
