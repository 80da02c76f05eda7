// Assembles and starts the service, for the command line and the tests.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { createAuthorHolds } from "./access/evaluation/author-holds.ts";
import { createConfirmOf } from "./access/evaluation/confirm-author.ts";
import { createAuthorise } from "./access/evaluation/authorise.ts";
import { createRequireReached } from "./iam/access-checks/require-reached.ts";
import { createSubjectOrgs } from "./iam/access-checks/subject-orgs.ts";
import { requireAllCollections } from "./access/conditions/condition-path.ts";
import { createEscalationGuard } from "./access/escalation/escalation-guard.ts";
import { compileWithinBudget } from "./access/evaluation/condition-input.ts";
import { createViewAuthor } from "./access/evaluation/author-view.ts";
import { createViewCaller } from "./access/evaluation/caller-view.ts";
import { createAccessEvaluator } from "./access/evaluation/evaluator.ts";
import { createOrgHeads } from "./access/snapshots/org-heads.ts";
import { createPreviewAccess } from "./access/previews/create-preview-access.ts";
import { registry } from "./catalog.ts";
import type { Config } from "./config.ts";
import { createHealth } from "./http/health/health.ts";
import type { OAuthDependencies } from "./http/oauth/oauth-endpoints.ts";
import { createAccount } from "./iam/account/account.ts";
import { createBrowserSignIn } from "./iam/sign-in/browser-sign-in.ts";
import { createProviderSignIn } from "./iam/sign-in/provider-sign-in.ts";
import { createSignInLink } from "./iam/sign-in/sign-in-links.ts";
import { createTokenFunctions } from "./iam/tokens/functions.ts";
import { createReadNarrowing } from "./iam/tokens/read-narrowing.ts";
import { rememberedMs } from "./access/engine/tables/token-table.ts";
import { createAuthenticateToken, createReadTokenState } from "./access/tokens/authenticate-token.ts";
import { createAskedOrgs } from "./identity/asked-orgs.ts";
import { createAuthenticate } from "./identity/authenticate.ts";
import { createLastUse } from "./identity/last-use.ts";
import { createGuardedFetch, resolveWithDns } from "./identity/oidc/guarded-fetch.ts";
import { createProviderClient } from "./identity/oidc/provider-client.ts";
import { createAccessTokens } from "./identity/tokens/access-token.ts";
import { createRefreshTokens } from "./identity/tokens/refresh-token.ts";
import { startInstallation } from "./installation/start-installation.ts";
import { createWhenDatabaseAnswers } from "./installation/wait-for-database.ts";
import { startSnapshots } from "./installation/start-snapshots.ts";
import { createSignInLinkFile, formatSignInLink, operatorOf } from "./installation/sign-in-link.ts";
import { createRequestHandler } from "./request-handler.ts";
import { closeWithJobs } from "./jobs/close-with-jobs.ts";
import { startCatalogReview } from "./jobs/catalog-review.ts";
import { createOperationsJob } from "./jobs/operations-job.ts";
import { createPurgeJob } from "./jobs/purge/purge-job.ts";
import { createStatisticsJob } from "./jobs/statistics-job.ts";
import { createSweepJob } from "./jobs/sweep-job.ts";
import { createConfirmedAnswers } from "./standard-methods/read/confirmed-answers.ts";
import { createFairQueue } from "./standard-methods/fair-queue.ts";
import { createWriteQueues } from "./standard-methods/write/write-queues.ts";
import { createPageTokens } from "./standard-methods/read/page-token.ts";
import { conditionCollectionsOf } from "./standard-methods/definition/condition-collections.ts";
import { createRowReaders } from "./standard-methods/read/row-reader.ts";
import { createPredefinedRoles, listKnownPermissions } from "./iam/roles/predefined-roles.ts";
import { createTypePermissions } from "./resources/type-permissions.ts";
import { createConcurrencyInterceptor } from "./rpc/limits/concurrency.ts";
import { createExplainError } from "./rpc/explain-error.ts";
import { createCallInterceptor, createErrorInterceptor } from "./rpc/interceptors.ts";
import { createCountCall } from "./rpc/limits/rate-limits.ts";
import { createLimitBody } from "./rpc/limits/limit-body.ts";
import { createTakeTurn } from "./rpc/limits/take-turn.ts";
import { createTurns } from "./turns/turns.ts";
import { createRequestGate } from "./rpc/request-gate.ts";
import { collectionsOf, createMethodTable, permissionsOfMethods } from "./rpc/method-table.ts";
import { services, standardServices } from "./rpc/services.ts";
import { createServiceListener } from "./service-listener.ts";
import { startDatabase } from "./installation/start-database.ts";

export interface RunningServer {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /**
   * Reports the server as not ready for a time, in milliseconds, in which it still serves requests: load balancers stop sending
   * them before the listener closes.
   */
  drain(ms: number): Promise<void>;
  /** Stops accepting requests, lets those in flight finish, then stops everything that the server started. */
  close(): Promise<void>;
}

const lastUseIntervalMs = 30_000;
const healthCheckTimeoutMs = 2_000;
const minuteMs = 60_000;
const operationsIntervalMs = 2_000;
const sweepIntervalMs = 1_000;
const statisticsIntervalMs = 1_000;
/** A sign-in calls its provider four times. */
const providerCallLimits = { timeoutMs: 5_000, maxBytes: 262_144 };
/** One caller's org, and one org that is written, has one of them at most. */
const maxPreviews = 2;

/**
 * Starts the service.
 *
 * @param onFatal called when the server cannot continue; the caller should close it and exit.
 * @param rateWindowMs the window of the rate limits, one minute except in tests.
 * @param showSignInLink called at the first start with the link with which the operator signs in once. By default, it is
 *   written to the data directory.
 * @param stopping ends the wait for a database that cannot be reached.
 * @throws the reason of the signal, or an Error that says what to change: a setting, the database, the data directory or the port.
 */
export async function startServer(
  config: Config,
  logger: Logger,
  onFatal: (error: Error) => void,
  rateWindowMs = minuteMs,
  showSignInLink: (link: string) => Promise<void> = createSignInLinkFile(config.dataDirectory),
  stopping: AbortSignal = new AbortController().signal,
): Promise<RunningServer> {
  // Functions that stop what was started, in the order of the start.
  const started: (() => Promise<void>)[] = [];
  const listener = createServiceListener(config, logger);
  let startDraining = (): void => {};
  const close = async (): Promise<void> => {
    startDraining();
    await listener.close(config.shutdownGraceMs);
    for (let stop = started.pop(); stop !== undefined; stop = started.pop()) await stop();
  };

  try {
    const whenAnswers = createWhenDatabaseAnswers({ logger, onWait: () => listener.open(), signal: stopping });
    const running = await startDatabase(config, logger, onFatal, whenAnswers);
    /** What works beside the calls. */
    const jobs: { close(): Promise<void> }[] = [];
    started.push(() => closeWithJobs(jobs, running.close));
    const { database } = running;
    const ofInstallation = { running, registry, jobs, keptMs: rememberedMs, logger, whenAnswers };
    const { installation, isNew, sealer, signingKeys } = await startInstallation(config, ofInstallation);

    jobs.push(startCatalogReview({ database, logger }));

    const lastUse = createLastUse(database, lastUseIntervalMs, (err) =>
      logger.warn({ err }, "failed to store the last use times of API keys"),
    );
    jobs.push(lastUse);

    const purgeJob = createPurgeJob({
      database,
      registry,
      systemOrgId: installation.systemOrgId,
      retentionDays: config.retentionDays,
      intervalMs: config.purgeIntervalMs,
      logger,
    });
    jobs.push(purgeJob);

    const health = createHealth({
      checks: { database: () => database.requireWritable(healthCheckTimeoutMs) },
      checkTimeoutMs: healthCheckTimeoutMs,
      onCheckFailed: (name, err) => logger.warn({ err, check: name }, "a health check failed"),
    });
    startDraining = () => health.startDraining();
    const table = createMethodTable([...services, ...standardServices]);
    const knownPermissions = listKnownPermissions(permissionsOfMethods(table), registry.definitions);
    const roles = createPredefinedRoles(knownPermissions, registry.definitions);
    const predefinedRoles = Object.fromEntries(roles.map((role) => [role.name, role]));
    const askedOrgs = createAskedOrgs();
    const heads = createOrgHeads(database, askedOrgs);
    const collections = conditionCollectionsOf(registry.definitions);
    requireAllCollections(collections, collectionsOf(table));
    const evaluator = createAccessEvaluator({ database, collections });
    const engine = { predefinedRoles, compileCondition: compileWithinBudget };
    const runningSnapshots = startSnapshots(config, { database, sealer, installation, logger }, engine);
    started.push(() => runningSnapshots.close());
    const { snapshots } = runningSnapshots;
    const viewCaller = createViewCaller(snapshots, database);
    const viewAuthor = createViewAuthor(snapshots, heads);
    const readers = createRowReaders(database, registry);
    // The port is known when the listener has started.
    let port = config.port;
    const issuer = () => config.issuer ?? `http://localhost:${port}`;
    const accessTokens = createAccessTokens(signingKeys, issuer);
    const readTokenState = createReadTokenState(accessTokens, heads, snapshots, evaluator);
    const authenticateToken = createAuthenticateToken(readTokenState);
    const authenticate = createAuthenticate({
      database,
      authenticateToken,
      askedOrgs,
      onUse: (caller) => lastUse.record(caller),
    });
    const explain = createExplainError(logger);
    const countCall = createCountCall(config, rateWindowMs);
    const turns = createTurns();
    const authorise = createAuthorise(viewCaller, evaluator, turns);
    const confirmOf = createConfirmOf(createAuthorise(viewCaller, evaluator, turns.ofHolders));
    const guards = {
      turn: createTakeTurn(table, turns, explain),
      gate: createRequestGate(table, authenticate, countCall, explain, turns),
      body: createLimitBody(config.maxBodyBytes, explain),
      errors: createErrorInterceptor(explain),
      call: createConcurrencyInterceptor(
        table,
        config,
        createCallInterceptor(table, authorise, confirmOf, createTypePermissions(database, readers), turns),
      ),
      explain,
    };
    const count: OAuthDependencies["count"] = (member, reads) => {
      const refusal = countCall?.(member, reads).refusal;
      return refusal === undefined ? Promise.resolve() : Promise.reject(refusal);
    };
    const { tokenLifeSeconds, sessionDays } = config;
    const refreshTokens = createRefreshTokens(sealer);
    const ofTokens = {
      database,
      registry,
      accessTokens,
      refreshTokens,
      readTokenState,
      viewCaller,
      evaluator,
      tokenLifeSeconds,
      sessionDays,
    };
    const tokenFunctions = createTokenFunctions(ofTokens);
    const dependencies = {
      database,
      tokenFunctions,
      impersonation: { ...ofTokens, readNarrowing: createReadNarrowing(ofTokens) },
      countRefresh: (member: Parameters<typeof count>[0]) => count(member, false),
      sealer,
      identityProviderNetworks: config.identityProviderNetworks,
      installation,
      pageTokens: createPageTokens(installation.pageTokenKey),
      registry,
      readers,
      requestTimeoutMs: config.requestTimeoutMs,
      predefinedRoles: roles,
      knownPermissions,
      viewCaller,
      evaluator,
      turns,
      subjectOrgs: createSubjectOrgs(viewCaller, snapshots, heads, evaluator),
      requireReached: createRequireReached(database),
      escalation: createEscalationGuard(viewAuthor, predefinedRoles),
      authorHolds: createAuthorHolds(viewAuthor, evaluator),
      authoriserOf: authorise.authoriserOf,
      previewAccess: createPreviewAccess({ database, snapshots, viewCaller, evaluator, permissions: knownPermissions }),
      ...createWriteQueues(database, config.writeConnections, {
        onCommit: (committed) => snapshots.follow(committed),
        onCommitFailed: (err) => logger.error({ err }, "failed to follow a commit of this server"),
      }),
      previewQueue: createFairQueue({ capacity: maxPreviews, perTarget: 1 }),
      listQueue: createFairQueue({ capacity: config.readConnections, perTarget: config.readConnections }),
      confirmedAnswers: createConfirmedAnswers(heads, config.answerMemoryBytes),
      askedOrgs,
      limits: config.limits,
      retentionDays: config.retentionDays,
    };
    jobs.push(createOperationsJob({ dependencies, intervalMs: operationsIntervalMs, logger }));
    jobs.push(createSweepJob({ dependencies, intervalMs: sweepIntervalMs, logger }));
    jobs.push(createStatisticsJob({ database, intervalMs: statisticsIntervalMs, logger }));
    const guardedFetch = createGuardedFetch({
      networks: config.identityProviderNetworks,
      resolveHost: resolveWithDns,
      ...providerCallLimits,
    });
    const handler = createRequestHandler(config, dependencies, guards, health, {
      oauth: { database, authenticate, tokenFunctions, count, confirmOf: (of) => confirmOf(of, []), issuer, logger },
      signIn: {
        database,
        ...createBrowserSignIn({ database, registry, accessTokens, tokenLifeSeconds }),
        account: createAccount({ database, registry }),
        providerSignIn: createProviderSignIn({
          database,
          sealer,
          providers: createProviderClient(guardedFetch, config.identityProviderNetworks),
          systemOrgId: installation.systemOrgId,
          issuer,
        }),
        count,
        issuer,
        systemOrgId: installation.systemOrgId,
        logger,
      },
      wellKnown: { issuer, algorithm: config.tokenAlgorithm, keySet: () => signingKeys.keySet() },
    });
    // From when the server listens, it outlives failures of the database.
    const signInCode = isNew
      ? await whenAnswers(() => createSignInLink(database, operatorOf(installation)))
      : undefined;
    listener.serve(handler);
    const address = await listener.open();
    ({ port } = address);
    const { url } = address;
    logger.info(`listening on ${url}`);
    if (signInCode !== undefined) await showSignInLink(formatSignInLink(issuer(), signInCode));
    return {
      url,
      async drain(ms) {
        health.startDraining();
        await sleep(ms);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
