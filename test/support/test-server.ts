import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { type Config, readConfig } from "../../src/config.ts";
import { startServer } from "../../src/server.ts";
import { expectNoDrift } from "./expect-no-drift.ts";
import { createTestDatabase } from "./test-database.ts";

export interface TestServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly databaseUrl: string;
  /** Empty on a server that joined the database of another one, which has it. */
  readonly operatorKey: string;
  /** What the server has logged, a line each. */
  readonly logLines: readonly string[];
  close(): Promise<void>;
}

/** Only tests that ask for it see what is due removed. */
const dayMs = 86_400_000;

/**
 * A whole server in this process, on a free port and a database of its own.
 *
 * @param rateWindowMs how long a minute is for the rate limits.
 */
export async function startTestServer(overrides: Partial<Config> = {}, rateWindowMs?: number): Promise<TestServer> {
  const database = overrides.databaseUrl === undefined ? await createTestDatabase() : undefined;
  const dataDirectory = await mkdtemp(join(tmpdir(), "tenantry-test-"));
  const logLines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void logLines.push(line) });
  const ownConfig = { port: 0, databaseUrl: database?.url, dataDirectory, purgeIntervalMs: dayMs };
  const config = { ...readConfig({}), ...ownConfig, ...overrides };
  const onFatal = (error: Error): void => {
    throw error;
  };
  const server = await startServer(config, logger, onFatal, rateWindowMs);
  return {
    url: server.url,
    databaseUrl: config.databaseUrl ?? "",
    operatorKey: await readOperatorKey(dataDirectory),
    logLines,
    async close() {
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
