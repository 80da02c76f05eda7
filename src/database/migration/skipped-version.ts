import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import { tableExists } from "../table-exists.ts";
import type { Applied } from "./applied.ts";
import type { Migrations } from "./migration.ts";

/** The version that has to run between the one that serves from the database and this one has never run. Nothing was migrated. */
export class VersionSkippedError extends Error {
  override readonly name = "VersionSkippedError";
}

/**
 * Checks that a migration which takes away what earlier versions use is applied only where a version that does without has migrated the
 * database in a run before this one, so that its servers can have taken the place of the earlier ones. Where no server has ever served,
 * there are none.
 *
 * @param versions the versions that know what migrations require, by its name, for the message.
 * @throws VersionSkippedError
 */
export async function requireNoneSkipped(
  db: Kysely<Schema>,
  applied: ReadonlyMap<string, Applied>,
  all: Migrations,
  versions: Readonly<Record<string, string>>,
): Promise<void> {
  const skipping = Object.entries(all).find(
    ([name, { requires }]) => requires !== undefined && !applied.has(name) && !applied.has(requires),
  );
  if (skipping === undefined || !(await hasServed(db))) return;
  const [name, { requires = "" }] = skipping;
  const newest = [...applied.keys()].toSorted().at(-1);
  throw new VersionSkippedError(
    `the database is too old for this version of Tenantry: it ends with the migration ${newest}, and ${name} takes away what servers use that do not know ${requires}. Replace all servers by ${versions[requires] ?? "a version"} that knows it first, then by this version`,
  );
}

/** Whether a server has ever served from a database: the first one makes the installation. */
async function hasServed(db: Kysely<Schema>): Promise<boolean> {
  const { rows: found } = await sql<{ isThere: boolean }>`
    select ${tableExists(sql`'installation'`)} as "isThere"`.execute(db);
  if (found[0]?.isThere !== true) return false;
  const { rows } = await sql<{ isMade: boolean }>`select exists (select from installation) as "isMade"`.execute(db);
  return rows[0]?.isMade === true;
}
