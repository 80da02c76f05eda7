import { setTimeout as sleep } from "node:timers/promises";
import type { Kysely } from "kysely";
import pg from "pg";
import { isDenied, isLockTimeout, isRetryable } from "../failure.ts";
import { findNewer, readApplied, readRole, recordApplied } from "./applied.ts";
import { type Session, type StatementWatch, describeSession, watchStatements } from "./blockers.ts";
import { createIndexes, createIndexesOfEmpty, dropIndexes, dropIndexesOfEmpty } from "./concurrent-indexes.ts";
import { beginFill, endFill } from "./fills.ts";
import type { Migration, Migrations } from "./migration.ts";
import { type Locked, underMigrationLock } from "./migration-lock.ts";
import type { MigrationRun } from "./migration-run.ts";

/** A migration got no lock in any of its tries. The message names who had it. */
export class MigrationBlockedError extends Error {
  override readonly name = "MigrationBlockedError";
}

/**
 * Applies a migration and records it, unless another server has done so meanwhile: in one transaction, or with statements outside of
 * one that can be repeated. One that gets no lock, or conflicts with calls, is rolled back and tried again after a pause.
 *
 * @returns whether this run has applied it.
 * @throws DatabaseTooNewError, MigrationBlockedError, the reason of the signal, or an Error that names the migration and has the reason
 *   as its cause.
 */
export async function applyMigration(run: MigrationRun, all: Migrations, name: string): Promise<boolean> {
  const { logger, signal, limits } = run;
  let blockers: readonly Session[] = [];
  for (let attempt = 1; ; attempt++) {
    let watch: StatementWatch | undefined;
    try {
      return await underMigrationLock(run, async (locked) => {
        const applied = await readApplied(locked.db);
        findNewer(applied, all);
        if (applied.has(name)) return false;
        watch = watchStatements(run, { waiting: locked.waiting, everyMs: limits.lockMs / 2 });
        await applyLocked(run, locked, name, all[name]);
        return true;
      });
    } catch (error) {
      const seen = (await watch?.stop()) ?? [];
      if (seen.length > 0) blockers = seen;
      if (signal.aborted) {
        if (watch !== undefined) logger?.warn({ migration: name }, stopped);
        throw signal.reason;
      }
      if (!isLockTimeout(error) && !isRetryable(error)) throw await explain(run, name, error);
      if (attempt === limits.tries) throw new MigrationBlockedError(describeBlocked(run, name, blockers));
      logger?.warn(
        { migration: name, attempt, of: limits.tries, blockers },
        `a migration gets no lock, and is tried again${blockers.length === 0 ? "" : `; it is held by ${blockers.map(describeSession).join("; ")}`}`,
      );
      await sleep(limits.pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    } finally {
      await watch?.stop();
    }
  }
}

/**
 * Gives a database without tables all migrations in one transaction: nobody uses it, and there is nothing to fill.
 *
 * @returns the migrations that this run has applied; none if there are tables.
 * @throws Error that names the migration that failed; nothing is left of the others.
 */
export function applyToEmpty(run: MigrationRun, all: Migrations): Promise<readonly string[]> {
  return underMigrationLock(run, (locked) => applyToEmptyLocked(run, locked, all));
}

/** Does the same for one that has the lock, in its transaction. */
export async function applyToEmptyLocked(
  run: MigrationRun,
  { db }: Locked,
  all: Migrations,
): Promise<readonly string[]> {
  if ((await readApplied(db)).size > 0) return [];
  for (const [name, migration] of Object.entries(all)) {
    try {
      if ("up" in migration) await migration.up(db as unknown as Kysely<unknown>);
      else if ("createIndexes" in migration) await createIndexesOfEmpty(db, migration.createIndexes);
      else if ("dropIndexes" in migration) await dropIndexesOfEmpty(db, migration.dropIndexes);
      else await endFill(db, name);
      await recordApplied(db, name, migration.requires);
    } catch (error) {
      run.signal.throwIfAborted();
      throw await explain(run, name, error);
    }
  }
  return Object.keys(all);
}

async function applyLocked(run: MigrationRun, { db }: Locked, name: string, migration?: Migration): Promise<void> {
  if (migration === undefined) throw new Error(`there is no migration ${name}`);
  if ("up" in migration) await migration.up(db as unknown as Kysely<unknown>);
  else if ("createIndexes" in migration) await createIndexes(run, migration.createIndexes);
  else if ("dropIndexes" in migration) await dropIndexes(run, migration.dropIndexes);
  else await beginFill(db, name);
  await recordApplied(db, name, migration.requires);
}

function describeBlocked({ limits }: MigrationRun, name: string, blockers: readonly Session[]): string {
  const tries = `the migration ${name} got no lock in ${limits.tries} tries of ${limits.lockMs} ms`;
  const who = blockers.length === 0 ? "" : `; what it changes was held by ${blockers.map(describeSession).join("; ")}`;
  return `${tries}${who}. Wait for the end of that transaction, or end it with pg_terminate_backend, and start again`;
}

async function explain({ db }: MigrationRun, name: string, cause: unknown): Promise<Error> {
  if (!(cause instanceof pg.DatabaseError)) return cause instanceof Error ? cause : new Error(String(cause));
  const failed = `the database could not be migrated: ${name} failed, and was rolled back`;
  if (!isDenied(cause)) return new Error(failed, { cause });
  return new Error(
    `${failed}: the role ${await readRole(db).catch(() => "of DATABASE_URL")} may not change the schema. Set TENANTRY_MIGRATION_DATABASE_URL to the role that owns the tables, or run "tenantry migrate" with it, then start again`,
    { cause },
  );
}

const stopped = "stopped during a migration, which was rolled back; the next start begins with it";
