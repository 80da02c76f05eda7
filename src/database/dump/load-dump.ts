import { sql } from "kysely";
import type { Logger } from "pino";
import type { ConnectionSettings } from "../primary-client.ts";
import { migrationLimits } from "../migrate.ts";
import { applyToEmptyLocked } from "../migration/apply-migration.ts";
import { readApplied, readRole } from "../migration/applied.ts";
import { type Locked, underMigrationLock } from "../migration/migration-lock.ts";
import type { Migrations } from "../migration/migration.ts";
import type { MigrationRun } from "../migration/migration-run.ts";
import { migrations } from "../migrations/all.ts";
import { createPartitionsOf } from "../partitions.ts";
import { requireTableRights } from "../table-rights.ts";
import { type CopiedTable, digestTable, loadRows, readTables } from "./copied-tables.ts";
import { type Deferred, dropIndexes } from "./deferred-indexes.ts";
import { DumpError } from "./dump-error.ts";
import { hasRows, isDumped, requireTables } from "./dumped-tables.ts";
import { type Ended, endCredentials } from "./end-credentials.ts";
import { type Manifest, type TableEnd, type TableHead, damaged } from "./manifest.ts";
import { readDump } from "./read-dump.ts";
import { type Session, openSession, prepareForCopies } from "./session.ts";

export interface LoadOptions {
  readonly logger: Pick<Logger, "info" | "warn">;
  readonly signal: AbortSignal;
  /** The role with which servers read and write what is restored. */
  readonly servedBy: string;
  /** Called before anything is written. What it throws ends the restore. */
  readonly onManifest: (manifest: Manifest) => Promise<void>;
  /** Called when everything is there, before it is committed. */
  readonly beforeCommit: (manifest: Manifest) => Promise<void>;
  readonly progress: {
    /** @param bytes of text, of the table so far. */
    readonly advance: (table: string, bytes: number) => void;
    readonly end: (table: string, end: TableEnd) => void;
    readonly step: (what: string) => void;
  };
}

export interface Loaded {
  readonly manifest: Manifest;
  readonly tables: number;
  readonly rows: number;
  readonly ended: Ended;
}

/**
 * Loads the text of a dump into an empty database, in one transaction: it gets the migrations of the dump, its rows, which are read
 * again and compared with the hashes in the dump, and then indexes and foreign keys. All tokens, sessions and sign-ins are ended.
 *
 * @throws DumpError, Error with the rights that a role lacks, the reason of the signal, or an error of the database. Nothing of the dump is
 *   left then.
 */
export async function loadDump(
  connection: ConnectionSettings,
  source: AsyncIterable<Buffer>,
  options: LoadOptions,
): Promise<Loaded> {
  const { logger, signal } = options;
  const session = await openSession(connection, "tenantry restore", false);
  const stop = (): void => session.abort();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const run: MigrationRun = { db: session.db, logger, signal, limits: migrationLimits };
    return await underMigrationLock(run, async (locked) => {
      await requireEmpty(locked);
      await requireCreation(locked);
      return loadLocked(session, run, locked, { source, ...options });
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    if (!signal.aborted) await session.close();
  }
}

async function loadLocked(
  { client }: Session,
  run: MigrationRun,
  locked: Locked,
  { source, servedBy, onManifest, beforeCommit, progress }: LoadOptions & { readonly source: AsyncIterable<Buffer> },
): Promise<Loaded> {
  const { db } = locked;
  const loaded: [CopiedTable, TableEnd][] = [];
  let manifest: Manifest | undefined;
  let tables: ReadonlyMap<string, CopiedTable> = new Map();
  let deferred: Deferred = { indexes: [], foreignKeys: [] };
  const tableOf = (head: TableHead): CopiedTable => {
    const found = tables.get(head.table);
    if (found === undefined || !isDumped(head.table)) throw damaged(`its migrations make no table ${head.table}`);
    return { ...found, columns: head.columns, key: head.key };
  };
  const counts = await readDump(source, {
    async onManifest(given) {
      await onManifest(given);
      manifest = given;
      await prepareForCopies(db);
      await applyToEmptyLocked(run, locked, migrationsOf(given));
      await createPartitionsOf(db, given.months);
      await requireTableRights(db, servedBy, await readRole(db));
      tables = new Map((await readTables(db)).filter(({ table }) => hasRows(table)).map((each) => [each.table, each]));
      deferred = await dropIndexes(db, [...tables.keys()]);
      // Migrations have written some.
      await sql`truncate table ${sql.join([...tables.keys()].map((table) => sql.table(table)))}`.execute(db);
    },
    async onTable(head, rows) {
      tableOf(head);
      await loadRows(
        client,
        head,
        countBytes(rows, (bytes) => progress.advance(head.table, bytes)),
      );
    },
    async onTableEnd(head, end) {
      loaded.push([tableOf(head), end]);
      progress.end(head.table, end);
    },
  });
  if (manifest === undefined) throw damaged("it is empty");
  requireTables(
    [...tables.keys()].filter(isDumped),
    loaded.map(([{ table }]) => table),
  );
  progress.step("reading the rows again");
  for (const [table, end] of loaded) {
    const found = await digestTable(client, table);
    if (found.rows !== end.rows || found.sha256 !== end.sha256) {
      throw damaged(`the rows of ${table.table} are others once they are loaded`);
    }
  }
  progress.step("building the indexes");
  for (const text of deferred.indexes) await sql.raw(text).execute(db);
  await sql`analyze ${sql.join([...tables.keys()].map((table) => sql.table(table)))}`.execute(db);
  progress.step("checking the foreign keys");
  for (const text of deferred.foreignKeys) await sql.raw(text).execute(db);
  const ended = await endCredentials(db, new Set(tables.keys()));
  await beforeCommit(manifest);
  return { manifest, ...counts, ended };
}

async function requireEmpty({ db }: Locked): Promise<void> {
  if ((await readApplied(db)).size === 0) return;
  throw new DumpError(
    "NOT_EMPTY",
    "the database is not empty: restore into a new one, in another TENANTRY_DATA or DATABASE_URL, or move the directory postgres of the data directory away",
  );
}

/** @throws Error if the role may create no tables. */
async function requireCreation({ db }: Locked): Promise<void> {
  const { rows } = await sql<{ schema: string; mayCreate: boolean }>`
    select quote_ident(current_schema()) as schema, has_schema_privilege(current_schema(), 'create') as "mayCreate"`.execute(
    db,
  );
  const [found] = rows;
  if (found === undefined || found.mayCreate) return;
  throw new Error(
    `the role ${await readRole(db)} may create no tables in the schema ${found.schema}: restore with the role that is to own them, in TENANTRY_MIGRATION_DATABASE_URL or DATABASE_URL`,
  );
}

/** @throws DumpError NEWER if this version does not know them all. */
function migrationsOf({ migrations: names, version }: Manifest): Migrations {
  const unknown = names.filter((name) => !Object.hasOwn(migrations, name));
  if (unknown.length > 0) {
    throw new DumpError(
      "NEWER",
      `the dump is of a newer version of Tenantry (${version}): its database has the migrations ${unknown.join(", ")}, which this version does not know. Restore it with that version`,
    );
  }
  const given = new Set(names);
  return Object.fromEntries(Object.entries(migrations).filter(([name]) => given.has(name)));
}

async function* countBytes(source: AsyncIterable<Buffer>, advance: (bytes: number) => void): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    advance(bytes);
    yield chunk;
  }
}
