import { type Kysely, sql } from "kysely";
import type { Database } from "../../src/database/database.ts";
import { createStatement, dropStatement } from "../../src/database/migration/concurrent-indexes.ts";
import { recordApplied } from "../../src/database/migration/applied.ts";
import { migrate } from "../../src/database/migrate.ts";
import { migrations, versionsByMigration } from "../../src/database/migrations/all.ts";

/** Gives an empty database the schema before a migration. Fills are left out: there are no rows. */
export async function migrateToBefore({ writes }: Database, name: string): Promise<void> {
  for (const [each, migration] of Object.entries(migrations).filter(([earlier]) => earlier < name)) {
    if ("createIndexes" in migration) {
      // Those of partitions were declared on an empty table, so they are there.
      for (const index of migration.createIndexes.filter(({ isPartitioned }) => isPartitioned !== true)) {
        await sql.raw(createStatement(index)).execute(writes);
      }
    }
    if ("dropIndexes" in migration) {
      for (const index of migration.dropIndexes) await sql.raw(dropStatement(index)).execute(writes);
    }
    await writes.transaction().execute(async (db) => {
      if ("up" in migration) await migration.up(db as unknown as Kysely<unknown>);
      await recordApplied(db, each, migration.requires);
    });
  }
}

/** Migrates a database of an earlier version as an operator does who leaves no version out. Returns the migrations that were applied. */
export async function migrateByVersions({ writes }: Database): Promise<readonly string[]> {
  const applied: string[] = [];
  for (const requires of [...Object.keys(versionsByMigration).toSorted(), undefined]) {
    const known = Object.entries(migrations).filter(([name]) => requires === undefined || name <= requires);
    applied.push(...(await migrate(writes, { all: Object.fromEntries(known) })).applied);
  }
  return applied;
}
