import { resolve } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { readDaysToKeep } from "../database/held-log.ts";
import { dropPartitions } from "../database/partitions.ts";
import { createSignInLink } from "../iam/sign-in/sign-in-links.ts";
import { forgetSecretKey } from "../identity/tokens/signing-key-store.ts";
import { openInstallation, renewOperatorKey } from "../installation/open-installation.ts";
import { createOperatorKeyFile, operatorKeyFile } from "../installation/operator-key-file.ts";
import { findSecretKeyFile } from "../installation/secret-keys-file.ts";
import { formatSignInLink, operatorOf } from "../installation/sign-in-link.ts";
import { type OpenOptions, type RunningDatabase, joinDatabase } from "../installation/start-database.ts";
import type { ProgressStream } from "./report/progress.ts";
import type { DumpCommandOptions, DumpContext } from "./dump/run-dump.ts";
import type { RestoreCommandOptions } from "./dump/run-restore.ts";

/** The commands of an operator who has the database and the data directory of a service. */
export interface OperatorCommands {
  readonly migrate: () => Promise<void>;
  /** Creates another API key for the operator. */
  readonly renewKey: () => Promise<void>;
  /** @throws Error if the key is not lost, or encrypts nothing. */
  readonly forgetSecretKey: (id: string) => Promise<void>;
  readonly createLink: () => Promise<void>;
  readonly dump: (file: string, options: DumpCommandOptions) => Promise<void>;
  readonly restore: (file: string, options: RestoreCommandOptions) => Promise<void>;
}

interface Output {
  readonly logger: Logger;
  readonly print: (line: string) => void;
  readonly showSignInLink: (link: string) => Promise<void>;
  /** Where commands that take long say how far they are. */
  readonly progressStream: ProgressStream;
  /** Ends a migration. */
  readonly stopping: AbortSignal;
}

type WithDatabase = (run: (running: RunningDatabase) => Promise<void>, options?: OpenOptions) => Promise<void>;

export function createOperatorCommands(config: Config, output: Output): OperatorCommands {
  const { logger, print, showSignInLink, stopping } = output;
  const { dataDirectory } = config;

  const withDatabase: WithDatabase = async (run, options) => {
    const onGone = (err: Error): void => logger.fatal({ err }, "the database cannot continue");
    const running = await joinDatabase(config, logger, onGone, stopping, options);
    try {
      stopping.throwIfAborted();
      await run(running);
    } finally {
      await running.close();
    }
  };

  return {
    migrate: () =>
      withDatabase(async (running) => {
        const { applied } = await running.migrate();
        print(applied.length === 0 ? "Nothing to migrate." : `Migrated: ${applied.join(", ")}`);
        // Where servers have a role that may not.
        const dropped = await running.asOwner(async (database) => {
          const days = await readDaysToKeep(database.reads, { kept: config.changeLogDays, held: config.heldLogDays });
          return dropPartitions(database, days);
        });
        if (dropped.length > 0) print(`Dropped old entries of the change log: ${dropped.join(", ")}`);
      }),

    renewKey: () =>
      withDatabase(async ({ database, migrate }) => {
        await migrate();
        const save = createOperatorKeyFile(dataDirectory);
        let isFirst = false;
        const installation = await openInstallation(database, async (secret) => {
          await save(secret);
          isFirst = true;
        });
        if (!isFirst) await save(await renewOperatorKey(database, installation, `recovered-${Date.now()}`));
        print(`The operator's new API key is in ${operatorKeyFile(dataDirectory)}`);
      }),

    async forgetSecretKey(id) {
      const own = await findSecretKeyFile(dataDirectory, config.secretKeysFile, id);
      if (own !== undefined) {
        throw new Error(`the secret key ${id} is in ${own}, so it is not lost; to replace it, see docs/operating.md`);
      }
      await withDatabase(async ({ database, migrate }) => {
        await migrate();
        const { forgotten, used } = await forgetSecretKey(database.writes, id);
        if (forgotten === 0) {
          const others = used.length === 0 ? "" : `; there are some with ${used.join(", ")}`;
          throw new Error(`no signing key in the database is encrypted with a secret key ${id}${others}`);
        }
        print("Tokens are signed with new keys. Sessions end when they are refreshed, and people sign in again.");
      });
    },

    createLink: () =>
      withDatabase(async ({ database, migrate }) => {
        await migrate();
        const installation = await openInstallation(database, createOperatorKeyFile(dataDirectory));
        const code = await createSignInLink(database, operatorOf(installation));
        const issuer = config.issuer ?? `http://localhost:${config.port}`;
        await showSignInLink(formatSignInLink(issuer, code));
      }),

    ...createDumpCommands(config, output, withDatabase),
  };
}

function createDumpCommands(
  { dataDirectory, secretKeysFile }: Config,
  { logger, print, progressStream, stopping: signal }: Output,
  withDatabase: WithDatabase,
): Pick<OperatorCommands, "dump" | "restore"> {
  const context = { dataDirectory, secretKeysFile, signal, print, progressStream };
  return {
    async dump(file, options) {
      const { runDump } = await import("./dump/run-dump.ts");
      const { embeddedPostgres: directory } = options;
      const withConnection: DumpContext["withConnection"] = (run) =>
        withDatabase(({ connection }) => run(connection), {
          packageDirectory: directory === undefined ? undefined : resolve(directory),
          acceptsStandby: true,
        });
      await runDump(file, options, { ...context, withConnection });
    },

    async restore(file, options) {
      const { restoreDump } = await import("./dump/run-restore.ts");
      await restoreDump(file, options, { ...context, withDatabase, logger });
    },
  };
}
