import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { columnTypes } from "./json-types.ts";
import { type Commits, createCommits } from "./commits.ts";
import { type Hints, createHints } from "./hints.ts";
import { type KnownStatement, createConnectionPool } from "./connection-pool.ts";
import { createConnectionWatch } from "./connection-watch.ts";
import { isRefusedByPooler, isStalePlan } from "./failure.ts";
import { type Freshness, type PoolActivity, type WatchedPool, createFreshness, watchPool } from "./pool-activity.ts";
import { type ConnectionSettings, type DatabaseAddress, addressOf, onFirstPrimary } from "./primary-client.ts";
import { StatementNames } from "./prepared-statements.ts";
import type { Schema } from "./schema.ts";
import { createDescriptions } from "./statement-query.ts";
import { type StatementTimes, createStatementTimes } from "./statement-times.ts";
import { analysisLimits, settingsOf, transactionLimits } from "./transaction-limits.ts";
import { followPrimary } from "./watch-hosts.ts";

export interface Database {
  /** For statements outside of transactions. */
  readonly reads: Kysely<Schema>;
  /**
   * Runs statements that read in a transaction of their own, on the connections of `reads`, and returns the rows of each. All see the
   * same snapshot. Where statements are prepared, all are sent together.
   *
   * @param settings returns the server's settings in the transaction, when it begins.
   */
  readTogether(
    statements: readonly KnownStatement[],
    settings: () => Readonly<Record<string, string>>,
  ): Promise<unknown[][]>;
  /** For transactions. They have their own pool, so writers that wait for an org's lock do not block readers. */
  readonly writes: Kysely<Schema>;
  /** What is told after transactions of `writes` that were run by `transact`. */
  readonly commits: Commits;
  /** What other servers have committed. */
  readonly hints: Hints;
  /**
   * Looks up rows by their keys, with connections of its own, in a prepared statement that each of them parses once. A name must
   * always have the same text.
   */
  readPrepared<Row>(name: string, text: string, values: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs statements in a transaction, one after the other, on a connection of their own, which is open while it is used: they may
   * take longer than a call waits.
   */
  maintain(
    statements: readonly KnownStatement[],
    settings: () => Readonly<Record<string, string>>,
  ): Promise<unknown[][]>;
  /**
   * Checks that the server answers and accepts writes.
   *
   * @throws Error when it is a standby, was set to read-only, or does not answer in time; its connection is then discarded.
   */
  requireWritable(withinMs: number): Promise<void>;
  /** What its connections are doing, and have done. */
  readonly activity: DatabaseActivity;
  close(): Promise<void>;
}

/** Runs something with the role that owns the tables, as far as that is known. */
export type AsOwner = <Result>(run: (database: Database) => Promise<Result>) => Promise<Result>;

export interface DatabaseActivity {
  readonly pools: readonly PoolActivity[];
  readonly statements: Pick<StatementTimes, "entries" | "foundDiskFull">;
  /** How many transactions have ended that may have written. */
  readonly writes: () => number;
}

export interface DatabaseOptions {
  readonly connection: ConnectionSettings;
  /** For lists and the like, and as many again for lookups by key. */
  readonly maxReadConnections: number;
  readonly maxWriteConnections: number;
  /** Whether connections keep statements that return. A pooler that shares connections may not allow it. Default: true. */
  readonly prepareStatements?: boolean;
  /**
   * Whether a pooler gives each transaction any connection, so that transactions set what connections would ask for otherwise, and nothing
   * is heard of other servers. Default: if statements are not kept.
   */
  readonly isPooled?: boolean;
  /** Whether a standby is as good, for a command that reads. Default: false. */
  readonly acceptsStandby?: boolean;
  readonly onConnectionError: (message: string) => void;
}

/** When a statement without an answer has lost its connection: after the server's own limits, which return an error. */
const deadlineMs = 35_000;
/** The same for maintenance. */
const maintenanceDeadlineMs = analysisLimits.statementMs + 10_000;
/** The same for statements that look up a few rows by their keys. Every request has some. */
const lookupDeadlineMs = 10_000;

const settings = settingsOf(transactionLimits);
/** For all statements of a connection. Transactions can have others. */
const timeouts = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
/**
 * Statements that look up rows by their keys are planned once. PostgreSQL would plan those with an array of keys each time, which
 * takes four times as long as running them. A plan that was made for an empty table must not scan it when it has grown.
 */
const ofLookups = ["plan_cache_mode=force_generic_plan", "enable_seqscan=off"];
/** A lookup that waits for a lock fails before its deadline: otherwise, the server would count as silent, and its connections be discarded. */
const limitsOfLookups = ["lock_timeout=4s", "statement_timeout=8s"];
/**
 * A select of a resource joins the tables of its paths among the first five, and then those that it takes names from. Where keys or
 * paths find the rows, the latter need no other order, but to compare all orders of eight tables takes the planner 4 ms instead
 * of 1.
 */
export const tablesToOrder = 5;
export const settingsByKey = [`join_collapse_limit=${tablesToOrder}`];

/** An idle connection is probed after this time, and then each second, ten times. */
const keptAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

export const ofOneConnection = { application_name: "tenantry", ...keptAlive };

/** The oldest supported major version of PostgreSQL. */
const oldestVersion = 15;
/** Names may have any character. SQL_ASCII stores bytes as they come, which are those of UTF-8. */
const encodings: ReadonlySet<string> = new Set(["UTF8", "SQL_ASCII"]);

interface OpenOptions {
  /** Whether statements that are run at once are sent together. */
  readonly pipeline?: boolean;
  /** More settings of the sessions. */
  readonly more?: readonly string[];
}

interface PoolOptions extends OpenOptions {
  readonly address: DatabaseAddress;
  readonly max: number;
  readonly isPooled: boolean;
  /** Called for a connection that fails while it is idle. */
  readonly onError: (error: Error) => void;
}

function createPool({ address, max, isPooled, onError, pipeline = false, more = [] }: PoolOptions) {
  const pool = new pg.Pool({
    ...address.config,
    Client: address.Client,
    max,
    pipeline,
    application_name: "tenantry",
    types: columnTypes,
    idleTimeoutMillis: 60_000,
    ...keptAlive,
    // A pooler does not pass them on, or refuses a connection that asks for them.
    ...(!isPooled && { options: [...timeouts, ...more].map((setting) => `-c ${setting}`).join(" ") }),
  });
  pool.on("error", onError);
  // A connection that breaks while it is in use fails its statement. Without a listener, the event would also end the
  // process.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** Returns a function that creates pools of one address, and what they are doing. */
function createOpener(options: Pick<PoolOptions, "address" | "isPooled" | "onError"> & { freshness: Freshness }) {
  const pools: PoolActivity[] = [];
  const open = (name: string, max: number, more: OpenOptions = {}): WatchedPool => {
    const watched = watchPool(name, createPool({ ...options, ...more, max }), options.address.hosts, options.freshness);
    pools.push(watched.activity);
    return watched;
  };
  return { pools, open };
}

/** Creates the connection pools. The first statement opens the first connection. */
export function openDatabase(options: DatabaseOptions): Database {
  const { prepareStatements = true, isPooled = !prepareStatements } = options;
  let closing = false;
  // Errors of connections are ignored while the pools close.
  const onError = (error: Error): void => void (closing || options.onConnectionError(error.message));
  const freshness = createFreshness();
  const watch = createConnectionWatch();
  const { address, hostWatch } = followPrimary(options, isPooled, { onError, freshness, watch });
  const { pools, open } = createOpener({ address, isPooled, onError, freshness });
  const names = prepareStatements ? new StatementNames() : undefined;
  const descriptionsOf = isPooled ? undefined : createDescriptions();
  const shared = { watch, deadlineMs, descriptionsOf, times: createStatementTimes() };
  // A pooler that knows no prepared statements may not expect several statements at once either.
  const forReads = open("reads", options.maxReadConnections, { pipeline: prepareStatements });
  // Where connections cannot ask for them.
  const ofTransactions = isPooled ? { settings } : {};
  const readPool = createConnectionPool({ ...shared, watched: forReads, names: undefined, ...ofTransactions });
  // Other names than those of writes, so that neither takes those of the other.
  const listNames = prepareStatements ? new StatementNames() : undefined;
  const listPool = createConnectionPool({ ...shared, watched: forReads, names: listNames, oneSnapshot: true });
  // Every request looks up its caller and its target: not behind lists, which may take long.
  const lookupPool = createConnectionPool({
    ...shared,
    watched: open("lookups", options.maxReadConnections, {
      more: [...ofLookups, ...limitsOfLookups, ...settingsByKey],
    }),
    names: undefined,
  });
  const forWrites = open("writes", options.maxWriteConnections, { pipeline: prepareStatements, more: settingsByKey });
  const writePool = createConnectionPool({ ...shared, watched: forWrites, names, ...ofTransactions });
  const maintenancePool = createConnectionPool({
    ...shared,
    watched: open("maintenance", 1),
    deadlineMs: maintenanceDeadlineMs,
    names: undefined,
  });
  const ofHints = { Client: address.Client, settings: { ...address.config, ...ofOneConnection } };
  const hints = createHints(ofHints, !isPooled, onError);
  const reads = new Kysely<Schema>({ dialect: readPool.dialect });
  const writes = new Kysely<Schema>({ dialect: writePool.dialect });
  return {
    reads,
    writes,
    commits: createCommits(),
    hints,
    activity: { pools, statements: shared.times, writes: forWrites.activity.ended },
    readTogether: (statements, settingsOfList) => againIfStale(() => listPool.runTogether(statements, settingsOfList)),
    maintain: (statements, settingsOfAll) => maintenancePool.runTogether(statements, settingsOfAll),
    async readPrepared<Row>(name: string, text: string, values: readonly unknown[]) {
      const statement = { lookup: name, text, values };
      const rows = lookupPool
        .run(prepareStatements ? { ...statement, name } : statement, lookupDeadlineMs)
        .catch((error: unknown) => {
          if (!isStalePlan(error)) throw error;
          return lookupPool.run(statement, lookupDeadlineMs);
        });
      return (await rows) as Row[];
    },
    async requireWritable(withinMs) {
      const text = "select current_setting('transaction_read_only') = 'off' as is_writable";
      const [row] = (await lookupPool.run({ text, values: [] }, withinMs)) as { is_writable: boolean }[];
      if (row?.is_writable !== true) throw new Error("the database accepts no writes: it is read-only");
    },
    async close() {
      closing = true;
      await Promise.all([reads.destroy(), writes.destroy(), hints.close(), hostWatch?.close()]);
      await watch.close();
    },
  };
}

/** Runs statements, and runs them again if their plans were out of date: another server had migrated the database. */
async function againIfStale<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!isStalePlan(error)) throw error;
    return run();
  }
}

/**
 * Opens connections without these limits, for migrations, which set their own. Some statements of migrations are not part of a
 * transaction, and behind a pooler only a transaction can have settings.
 */
export function openForMigration(connection: ConnectionSettings): Kysely<Schema> {
  const { config, Client, hosts } = addressOf(connection);
  const pool = new pg.Pool({
    ...config,
    Client,
    max: 3,
    // No call waits for an answer meanwhile.
    connectionTimeoutMillis: 0,
    ...keptAlive,
    application_name: "tenantry migrate",
  });
  // A connection that breaks fails its statement. Without listeners, the events would also end the process.
  pool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
  const onPrimary = { connect: () => onFirstPrimary(hosts, () => pool.connect()), end: () => pool.end() };
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool: { ...onPrimary, options: pool.options } }) });
}

/**
 * Connects, checks the encoding of the database, and reads the server's version.
 *
 * @throws Error that names both versions when the server is too old, the encodings when it is another one, and the setting for poolers
 *   when one refuses the connection.
 */
export async function checkServer(database: Database): Promise<string> {
  const { rows } = await sql<{ version: string; encoding: string }>`
    select current_setting('server_version') as version, current_setting('server_encoding') as encoding`
    .execute(database.reads)
    .catch((cause: unknown) => {
      throw isRefusedByPooler(cause)
        ? new Error(
            `a pooler in front of the database refuses settings of connections (${cause.message}); set TENANTRY_PREPARED_STATEMENTS to pooled, or to off if it knows no prepared statements`,
            { cause },
          )
        : cause;
    });
  const [{ version, encoding } = { version: "", encoding: "" }] = rows;
  if (Number.parseInt(version, 10) < oldestVersion) {
    throw new Error(`the database server is PostgreSQL ${version}; Tenantry needs ${oldestVersion} or newer`);
  }
  if (!encodings.has(encoding)) {
    const create = "create database ... encoding 'UTF8' template template0";
    throw new Error(`the database has the encoding ${encoding}; Tenantry needs UTF8, as in: ${create}`);
  }
  return version;
}
