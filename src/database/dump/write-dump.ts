import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { ConnectionSettings } from "../primary-client.ts";
import { readApplied } from "../migration/applied.ts";
import { readPartitions } from "../partitions.ts";
import { type CopiedTable, copyRows, digestRows, readTables } from "./copied-tables.ts";
import { isDumped, isOwnTable } from "./dumped-tables.ts";
import { DumpError } from "./dump-error.ts";
import { type DumpEnd, type Manifest, type TableEnd, dumpFormat } from "./manifest.ts";
import { type Session, openSession, prepareForCopies } from "./session.ts";
import { readSecretKeyIds } from "./secret-key-ids.ts";

export interface DumpOptions {
  /** The version of Tenantry. */
  readonly version: string;
  /**
   * Returns the file with the secret keys, for a dump that is encrypted; undefined for none.
   *
   * @param ids of the keys with which something is encrypted.
   */
  readonly readSecretKeysFile: (ids: readonly string[]) => Promise<string | undefined>;
  /** Called with the tables of others, which are left out. */
  readonly onForeign: (tables: readonly string[]) => void;
  readonly progress: DumpProgress;
}

interface DumpProgress {
  /** @param bytes of text, of the table so far. */
  readonly advance: (table: string, bytes: number) => void;
  readonly end: (table: string, end: TableEnd) => void;
}

/**
 * Writes all rows of the database as text (see manifest.ts), as they were at one moment. Reads and writes go on meanwhile; a migration
 * waits, and vacuum removes no row that was changed since.
 *
 * @throws DumpError if there is nothing to dump.
 */
export async function* writeDump(connection: ConnectionSettings, options: DumpOptions): AsyncGenerator<Buffer> {
  const session = await openSession(connection, "tenantry dump", true);
  let isWhole = false;
  try {
    const tables = await beginSnapshot(session, options);
    const all = createHash("sha256");
    const write = (chunk: Buffer): Buffer => {
      all.update(chunk);
      return chunk;
    };
    yield write(toLine(await readManifest(session, options)));
    for (const table of tables) {
      yield write(toLine({ table: table.table, columns: table.columns, key: table.key }));
      const digest = digestRows();
      let bytes = 0;
      for await (const chunk of copyRows(session.client, table)) {
        digest.add(chunk);
        bytes += chunk.length;
        options.progress.advance(table.table, bytes);
        yield write(chunk);
      }
      const end = digest.end();
      options.progress.end(table.table, end);
      yield write(Buffer.from("\\.\n"));
      yield write(toLine(end));
    }
    yield toLine({ tables: tables.length, sha256: all.digest("hex") } satisfies DumpEnd);
    isWhole = true;
  } finally {
    // The rows of a table may be on their way.
    if (isWhole) await session.close();
    else session.abort();
  }
}

/** Begins a transaction that sees one moment and in which no table changes its form. Returns the tables to dump. */
async function beginSnapshot({ db, client }: Session, { onForeign }: DumpOptions): Promise<readonly CopiedTable[]> {
  const found = await readTables(db);
  const foreign = found.filter(({ table }) => !isOwnTable(table)).map(({ table }) => table);
  const own = found.filter(({ table }) => isDumped(table)).map(({ table }) => table);
  if (!own.includes("installation")) {
    throw new DumpError("NO_DUMP", "there is nothing to dump: the database is empty, or that of another service");
  }
  if (foreign.length > 0) onForeign(foreign);
  await client.query("begin isolation level repeatable read, read only");
  // Before anything is read, so that the moment is one at which nobody migrates.
  await sql`lock table ${sql.join(own.map((table) => sql.table(table)))} in access share mode`.execute(db);
  await prepareForCopies(db);
  return (await readTables(db)).filter(({ table }) => isDumped(table));
}

async function readManifest({ db }: Session, { version, readSecretKeysFile }: DumpOptions): Promise<Manifest> {
  const { rows } = await sql<{ time: string; postgresql: string }>`
    select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as time,
      current_setting('server_version') as postgresql`.execute(db);
  const { time, postgresql } = rows[0] ?? { time: "", postgresql: "" };
  const migrations = [...(await readApplied(db)).keys()].toSorted();
  const secretKeys = await readSecretKeyIds(db);
  const secretKeysFile = await readSecretKeysFile(secretKeys);
  return {
    format: dumpFormat,
    version,
    time,
    postgresql,
    migrations,
    secretKeys,
    months: await readPartitions(db),
    ...(secretKeysFile !== undefined && { secretKeysFile }),
  };
}

function toLine(fields: object): Buffer {
  return Buffer.from(`${JSON.stringify(fields)}\n`);
}
