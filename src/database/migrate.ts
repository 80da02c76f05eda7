import type { Kysely } from "kysely";
import type { Logger } from "pino";
import { applyMigration, applyToEmpty } from "./migration/apply-migration.ts";
import { findNewer, readApplied } from "./migration/applied.ts";
import { finishFill } from "./migration/fills.ts";
import type { Migration, Migrations } from "./migration/migration.ts";
import type { MigrationLimits, MigrationRun } from "./migration/migration-run.ts";
import { requireNoneSkipped } from "./migration/skipped-version.ts";
import { migrations, versionsByMigration } from "./migrations/all.ts";
import { createPartitions } from "./partitions.ts";
import type { Schema } from "./schema.ts";

interface MigrateOptions {
  readonly logger?: Pick<Logger, "info" | "warn">;
  /** Stops before the next statement, and cancels the one that runs. */
  readonly signal?: AbortSignal;
  /** Others than those of this version, for tests. */
  readonly all?: Migrations;
  readonly limits?: MigrationLimits;
}

/** What a database had, and got. */
export interface Migrated {
  /** The migrations that this call has applied. */
  readonly applied: readonly string[];
  /** Those that this version does not know, from a newer version that lets this one run. */
  readonly newer: readonly string[];
}

/** Those of migrations. */
export const migrationLimits: MigrationLimits = { lockMs: 1_000, tries: 30, pauseMs: 2_000 };

/**
 * Migrates the database to this version's schema, and creates the partitions of the change log for the next months. Each migration is
 * applied for itself: what was begun when this fails or is stopped is rolled back, and the next call goes on from there.
 *
 * @param db with three connections.
 * @throws DatabaseTooNewError when a newer version has migrated the database so that this one cannot run; VersionSkippedError when
 *   another version must run before this one; MigrationBlockedError; the reason of the signal; or an Error that names the migration that
 *   failed and has the reason as its cause.
 */
export async function migrate(
  db: Kysely<Schema>,
  { logger, signal = new AbortController().signal, all = migrations, limits = migrationLimits }: MigrateOptions = {},
): Promise<Migrated> {
  const run: MigrationRun = { db, logger, signal, limits };
  // Most starts have nothing to migrate, so they need no lock.
  const found = await readApplied(db);
  const newer = findNewer(found, all);
  if (found.size > 0) await requireNoneSkipped(db, found, all, versionsByMigration);
  const applied = found.size === 0 ? [...(await applyToEmpty(run, all))] : [];
  // Another server may have been faster.
  const before = found.size === 0 ? await readApplied(db) : found;
  if (applied.length > 0) logger?.info({ migrations: applied.length }, "created the tables of the database");
  for (const [name, migration] of Object.entries(all)) {
    if (before.has(name)) continue;
    await finishFills(run, all, migration);
    if (await applyMigration(run, all, name)) {
      applied.push(name);
      logger?.info({ migration: name }, "migrated the database");
    }
  }
  await createPartitions(db);
  return { applied, newer };
}

async function finishFills(run: MigrationRun, all: Migrations, { needs = [] }: Migration): Promise<void> {
  for (const name of needs) {
    const needed = all[name];
    if (needed === undefined || !("fill" in needed)) throw new Error(`there is no fill ${name}`);
    await finishFill(run, name, needed.fill);
  }
}
