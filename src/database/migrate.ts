import { type Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { isRetryable } from "./failure.ts";
import { createResources } from "./migrations/0001-resources.ts";
import { createWriteRequests } from "./migrations/0002-write-requests.ts";
import { createStatesAndCounts } from "./migrations/0003-states-and-counts.ts";
import { createListIndexes } from "./migrations/0004-list-indexes.ts";
import { createAccess } from "./migrations/0005-access.ts";
import { indexConditionalBindings } from "./migrations/0006-conditional-bindings.ts";
import { dropTriggersAndCascades } from "./migrations/0007-no-triggers.ts";
import { addLabelParents } from "./migrations/0008-label-parents.ts";
import { addRevisionTokens } from "./migrations/0009-revision-tokens.ts";
import { reserveNames } from "./migrations/0010-reserved-names.ts";
import { partitionChangeLog } from "./migrations/0011-change-log.ts";
import { limitKeys } from "./migrations/0012-limited-keys.ts";
import { createServiceCatalog } from "./migrations/0013-service-catalog.ts";
import { createQuotas } from "./migrations/0014-quotas.ts";
import { addServiceBindings } from "./migrations/0015-service-bindings.ts";
import { createResourcesAndOperations } from "./migrations/0016-resources.ts";
import { createQuotaRequests } from "./migrations/0017-quota-requests.ts";
import { createSweeps } from "./migrations/0018-sweeps.ts";
import { addResourceReferences } from "./migrations/0019-resource-references.ts";
import { createTokens } from "./migrations/0020-tokens.ts";
import { createSessions } from "./migrations/0021-sessions.ts";
import { addRoutes } from "./migrations/0022-routes.ts";
import { createBrowserSessions } from "./migrations/0024-browser-sessions.ts";
import { addKeyRules } from "./migrations/0026-key-rules.ts";
import { addImpersonation } from "./migrations/0027-impersonation.ts";
import { createClients } from "./migrations/0028-clients.ts";
import { createIdentities } from "./migrations/0029-identities.ts";
import { keepDeletedResources } from "./migrations/0030-deleted-resources.ts";
import { allowConcurrentOperations } from "./migrations/0031-concurrent-operations.ts";
import { addSessionsOfCodes } from "./migrations/0032-codes-of-sessions.ts";
import { addRedirectUrisOfSessions } from "./migrations/0034-redirect-uris-of-sessions.ts";
import { acceptIdentities } from "./migrations/0036-accepted-identities.ts";
import { boundWhatCounts } from "./migrations/0039-counted-kinds.ts";
import { addRefreshOrigins } from "./migrations/0042-refresh-origins.ts";
import type { Schema } from "./schema.ts";

/**
 * All migrations, in order. The name of a released migration never changes, and no released migration is removed.
 *
 * Servers of the previous version keep running while a newer one migrates, except for these; stop older servers first:
 *
 * - `0007-no-triggers`: from there on, the servers maintain counts and labels and remove dependent rows. An older server does
 *   none of that, and all its writes fail.
 * - `0009-revision-tokens`: an older server cannot read revisions, so all its calls fail.
 * - `0011-change-log`: an older server does not write the new columns of the change log, so all its writes fail.
 * - `0012-limited-keys`: an older server does not limit API keys.
 * - `0020-tokens`: an older server removes API keys without ending their tokens.
 */
const migrations: Record<string, Migration> = {
  "0001-resources": { up: createResources },
  "0002-write-requests": { up: createWriteRequests },
  "0003-states-and-counts": { up: createStatesAndCounts },
  "0004-list-indexes": { up: createListIndexes },
  "0005-access": { up: createAccess },
  "0006-conditional-bindings": { up: indexConditionalBindings },
  "0007-no-triggers": { up: dropTriggersAndCascades },
  "0008-label-parents": { up: addLabelParents },
  "0009-revision-tokens": { up: addRevisionTokens },
  "0010-reserved-names": { up: reserveNames },
  "0011-change-log": { up: partitionChangeLog },
  "0012-limited-keys": { up: limitKeys },
  "0013-service-catalog": { up: createServiceCatalog },
  "0014-quotas": { up: createQuotas },
  "0015-service-bindings": { up: addServiceBindings },
  "0016-resources": { up: createResourcesAndOperations },
  "0017-quota-requests": { up: createQuotaRequests },
  "0018-sweeps": { up: createSweeps },
  "0019-resource-references": { up: addResourceReferences },
  "0020-tokens": { up: createTokens },
  "0021-sessions": { up: createSessions },
  "0022-routes": { up: addRoutes },
  "0024-browser-sessions": { up: createBrowserSessions },
  "0026-key-rules": { up: addKeyRules },
  "0027-impersonation": { up: addImpersonation },
  "0028-clients": { up: createClients },
  "0029-identities": { up: createIdentities },
  "0030-deleted-resources": { up: keepDeletedResources },
  "0031-concurrent-operations": { up: allowConcurrentOperations },
  "0032-codes-of-sessions": { up: addSessionsOfCodes },
  "0034-redirect-uris-of-sessions": { up: addRedirectUrisOfSessions },
  "0036-accepted-identities": { up: acceptIdentities },
  "0039-counted-kinds": { up: boundWhatCounts },
  "0042-refresh-origins": { up: addRefreshOrigins },
};

/** The names of all migrations. */
export const migrationNames: readonly string[] = Object.keys(migrations);

const maxAttempts = 5;

/** The database has migrations that this version does not know, from a newer version. */
export class DatabaseTooNewError extends Error {
  override readonly name = "DatabaseTooNewError";
}

/**
 * Migrates the database to this version's schema, in one transaction, under a lock that other servers wait for.
 *
 * @returns the names of the applied migrations; empty if the schema is up to date.
 * @throws DatabaseTooNewError when the database is newer than the code.
 */
export async function migrate(db: Kysely<Schema>): Promise<string[]> {
  // Most starts have nothing to migrate, so they need no lock and no description of all tables.
  const applied = await readApplied(db);
  refuseNewer(applied);
  if (applied.length === Object.keys(migrations).length) return [];
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  let { error, results } = await migrator.migrateToLatest();
  // It may have conflicted with running servers. A failed attempt is rolled back.
  for (let attempt = 1; attempt < maxAttempts && isRetryable(error); attempt++) {
    ({ error, results } = await migrator.migrateToLatest());
  }
  if (error !== undefined) {
    // A server with newer code may have migrated while this one waited for the lock.
    refuseNewer(await readApplied(db));
    throw new Error("the database could not be migrated", { cause: error });
  }
  return (results ?? []).filter((result) => result.status === "Success").map((result) => result.migrationName);
}

/** Returns the names of the applied migrations; none if the database is empty. */
async function readApplied(db: Kysely<Schema>): Promise<string[]> {
  // The migrator fails for unknown names, so the table is read directly.
  const { rows } = await sql<{ exists: boolean }>`select to_regclass('kysely_migration') is not null as exists`.execute(
    db,
  );
  if (rows[0]?.exists !== true) return [];
  const applied = await db
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom("kysely_migration")
    .select("name")
    .execute();
  return applied.map((row) => row.name);
}

/** @throws DatabaseTooNewError when a migration is unknown. */
function refuseNewer(applied: readonly string[]): void {
  const unknown = applied.filter((name) => !Object.hasOwn(migrations, name));
  if (unknown.length > 0) {
    throw new DatabaseTooNewError(
      `the database is newer than this version of Tenantry: it has the migrations ${unknown.join(", ")}; start the version that migrated it, or a newer one`,
    );
  }
}
