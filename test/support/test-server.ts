import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { type Config, readConfig } from "../../src/config.ts";
import type { Intervals } from "../../src/compose/service.ts";
import { startServer } from "../../src/server.ts";
import { atEndOfFiles } from "./end-of-file.ts";
import { expectNoDrift } from "./expect-no-drift.ts";
import { waitingLonger } from "./database-url.ts";
import { createTestDatabase } from "./test-database.ts";

export interface TestServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Where metrics are served; empty if they are not. */
  readonly metricsUrl: string;
  readonly databaseUrl: string;
  /** Empty for a server on the database of another one, which has the key. */
  readonly operatorKey: string;
  /** The lines that the server has logged. */
  readonly logLines: string[];
  /** What encrypts secrets in the database. */
  readonly secretKeysFile: string;
  close(): Promise<void>;
}

/** What issues the tokens of servers that are one service. */
export const issuer = "https://iam.example.com";

/** By default, calls are not counted, so that responses have no rate limit headers. */
const noRates = { rateReadsPerCaller: 0, rateWritesPerCaller: 0, rateReadsPerOrg: 0, rateWritesPerOrg: 0 };

/** By default, the purge job does not run during a test. */
const dayMs = 86_400_000;

interface Log {
  readonly lines: string[];
  isClosed: boolean;
}

/** What the servers of this worker have logged since the file began. */
let logs: Log[] = [];

/** How many lines of each server are shown after a file that failed. */
const shownLines = 20;
const isOfFailure = (line: string): boolean => /"level":[4-6]0\b/.test(line);

// They say why a call was answered UNAVAILABLE or INTERNAL.
atEndOfFiles(async (failed) => {
  for (const { lines } of logs) {
    if (failed) for (const line of lines.filter(isOfFailure).slice(-shownLines)) console.error(line.trimEnd());
    lines.length = 0;
  }
  logs = logs.filter(({ isClosed }) => !isClosed);
});

/**
 * Starts a complete server in this process, on a free port and a separate database.
 *
 * @param shorter replaces intervals: the minute of the rate limits, and others.
 */
export async function startTestServer(
  overrides: Partial<Config> = {},
  shorter?: Partial<Intervals>,
): Promise<TestServer> {
  const database = overrides.databaseUrl === undefined ? await createTestDatabase() : undefined;
  const dataDirectory = await mkdtemp(join(tmpdir(), "tenantry-test-"));
  const logLines: string[] = [];
  const log: Log = { lines: logLines, isClosed: false };
  logs.push(log);
  const logger = pino({ level: "info" }, { write: (line: string) => void logLines.push(line) });
  const secretKeysFile = join(dataDirectory, "keys");
  // Servers on one database have the same key.
  const { pathname } = new URL(overrides.databaseUrl ?? database?.url ?? "");
  await writeFile(secretKeysFile, `${createHash("sha256").update(pathname).digest("base64")}\n`);
  const databaseUrl = database && waitingLonger(database.url);
  const ownConfig = { port: 0, databaseUrl, dataDirectory, secretKeysFile, purgeIntervalMs: dayMs };
  const config = { ...readConfig({}), ...noRates, ...ownConfig, ...overrides };
  const onFatal = (error: Error): void => {
    throw error;
  };
  const server = await startServer(config, logger, onFatal, shorter);
  return {
    url: server.url,
    metricsUrl: server.metricsUrl ?? "",
    databaseUrl: config.databaseUrl ?? "",
    operatorKey: await readOperatorKey(dataDirectory),
    logLines,
    secretKeysFile: config.secretKeysFile ?? secretKeysFile,
    async close() {
      log.isClosed = true;
      await server.close();
      if (database !== undefined) await expectNoDrift(database.url).finally(() => database.drop());
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

async function readOperatorKey(dataDirectory: string): Promise<string> {
  const file = join(dataDirectory, "operator-key");
  return existsSync(file) ? (await readFile(file, "utf8")).trim() : "";
}
