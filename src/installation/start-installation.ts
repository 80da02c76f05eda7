import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { Installation } from "../identity/installation.ts";
import { type Sealer, createSealer } from "../identity/sealer.ts";
import { type SigningKeys, startSigningKeys } from "../identity/tokens/signing-keys.ts";
import { type ChangeLogJob, startChangeLogJob } from "../jobs/change-log-job.ts";
import { SchemaMismatchError, checkSchema } from "../standard-methods/definition/check-schema.ts";
import type { ResourceRegistry } from "../standard-methods/definition/registry.ts";
import type { RunningJob } from "../timers/runs.ts";
import { openInstallation } from "./open-installation.ts";
import { createOperatorKeyFile, operatorKeyFile } from "./operator-key-file.ts";
import { readSecretKeys } from "./secret-keys-file.ts";
import type { RunningDatabase } from "./start-database.ts";
import type { WhenDatabaseAnswers } from "./wait-for-database.ts";

interface InstallationDependencies {
  readonly running: RunningDatabase;
  readonly registry: ResourceRegistry;
  /** Where what is started is added, so that it is closed with the server. */
  readonly jobs: RunningJob[];
  /** How long a retired signing key stays published, in milliseconds. */
  readonly keptMs: number;
  readonly logger: Logger;
  readonly whenAnswers: WhenDatabaseAnswers;
}

export interface StartedInstallation {
  readonly installation: Installation;
  /** Whether this start has created the installation. */
  readonly isNew: boolean;
  readonly sealer: Sealer;
  readonly signingKeys: SigningKeys;
  readonly heldLog: ChangeLogJob["held"];
}

/**
 * Migrates the database, and opens the installation in it with its keys. Each step can be repeated, and is while the database cannot be
 * reached.
 *
 * @throws Error that says what to change, such as the secret key that is missing.
 */
export async function startInstallation(
  config: Config,
  { running, registry, jobs, keptMs, logger, whenAnswers }: InstallationDependencies,
): Promise<StartedInstallation> {
  const { database } = running;
  await whenAnswers(running.migrate);
  await whenAnswers(() => checkMigrated(running, registry, logger));

  const logDays = { kept: config.changeLogDays, held: config.heldLogDays };
  const { held: heldLog, ...changeLog } = startChangeLogJob({ database, asOwner: running.asOwner, logDays, logger });
  jobs.push({ name: "change-log", ...changeLog });

  const saveOperatorKey = createOperatorKeyFile(config.dataDirectory);
  let isNew = false;
  const installation = await whenAnswers(() =>
    openInstallation(database, async (secret) => {
      await saveOperatorKey(secret);
      isNew = true;
      logger.info(`the operator's API key is in ${operatorKeyFile(config.dataDirectory)}`);
    }),
  );

  const secretKeys = await readSecretKeys(config.dataDirectory, config.secretKeysFile);
  if (secretKeys.isDefault) {
    logger.warn(
      `TENANTRY_SECRET_KEYS_FILE is not set: secrets in the database are encrypted with the key in ${secretKeys.file}. Keep a copy of it; servers on this database do not start without it`,
    );
  }
  const sealer = createSealer(secretKeys.keys);
  logger.info({ secretKeys: sealer.keyIds }, `read the secret keys from ${secretKeys.file}`);
  const signingKeys = await whenAnswers(() =>
    startSigningKeys({
      database,
      sealer,
      secretKeysFile: secretKeys.file,
      algorithm: config.tokenAlgorithm,
      lifeDays: config.signingKeyDays,
      keptMs,
      logger,
    }),
  );
  jobs.push({ name: "signing-keys", ...signingKeys });
  return { installation, isNew, sealer, signingKeys, heldLog };
}

/**
 * Checks the schema against the definitions. What a newer version has made of it, which lets this one run, may differ from them.
 *
 * @throws SchemaMismatchError
 */
async function checkMigrated(
  { database, migrate }: RunningDatabase,
  registry: ResourceRegistry,
  logger: Logger,
): Promise<void> {
  try {
    await checkSchema(database.reads, registry);
  } catch (error) {
    if (!(error instanceof SchemaMismatchError)) throw error;
    // It may have done so since this server has migrated.
    const { newer } = await migrate();
    if (newer.length === 0) throw error;
    logger.info(
      { migrations: newer, differences: error.message.split("\n") },
      "a newer version has changed the schema",
    );
  }
}
