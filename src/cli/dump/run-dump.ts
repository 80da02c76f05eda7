import packageJson from "../../../package.json" with { type: "json" };
import { writeDump } from "../../database/dump/write-dump.ts";
import type { ConnectionSettings } from "../../database/primary-client.ts";
import { readFileOfKeys } from "../../installation/secret-keys-file.ts";
import { count } from "../plural.ts";
import type { ProgressStream } from "../report/progress.ts";
import { createRowProgress, formatBytes } from "./dump-progress.ts";
import { refuseToReplace, writeDumpFile } from "./dump-file.ts";
import { type EncryptionOptions, createEncrypter } from "./encryption.ts";

export interface DumpCommandOptions extends EncryptionOptions {
  readonly force?: boolean;
  /** False for an encrypted dump without the secret keys. */
  readonly secretKeys: boolean;
  /** The npm package whose PostgreSQL runs on the embedded database. */
  readonly embeddedPostgres?: string;
}

export interface DumpContext {
  readonly dataDirectory: string;
  readonly secretKeysFile: string | undefined;
  /** What the database is opened with, once the options are right. */
  readonly withConnection: (run: (connection: ConnectionSettings) => Promise<void>) => Promise<void>;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
  /** Where it says how far it is. */
  readonly progressStream: ProgressStream;
}

/** Dumps the database to a file. @throws DumpError, and Error that names what is wrong with the options. */
export async function runDump(
  file: string,
  options: DumpCommandOptions,
  { dataDirectory, secretKeysFile, withConnection, signal, print, progressStream }: DumpContext,
): Promise<void> {
  const encrypter = await createEncrypter(options);
  const force = options.force ?? false;
  if (!force) await refuseToReplace(file);
  const withKeys = encrypter !== undefined && options.secretKeys;
  const progress = createRowProgress(progressStream);
  await withConnection(async (connection) => {
    const totals = { tables: 0, rows: 0, keys: [] as readonly string[] };
    const text = writeDump(connection, {
      version: packageJson.version,
      async readSecretKeysFile(ids) {
        totals.keys = ids;
        return withKeys ? readFileOfKeys(dataDirectory, secretKeysFile, ids) : undefined;
      },
      onForeign: (tables) => void progressStream.write(`Left out what is not of Tenantry: ${tables.join(", ")}\n`),
      progress: {
        advance: progress.advance,
        end(table, end) {
          totals.tables++;
          totals.rows += end.rows;
          progress.end(table, end);
        },
      },
    });
    let size;
    try {
      size = await writeDumpFile(file, text, { force, encrypter, signal });
    } finally {
      progress.close();
    }
    print(`${file}: ${count(totals.rows, "row")} of ${count(totals.tables, "table")}, ${formatBytes(size)}`);
    if (withKeys) print("It is encrypted, and has the secret keys.");
    else if (totals.keys.length > 0) {
      print(
        `It has no secret keys: keep a copy of ${secretKeysFile ?? `${dataDirectory}/secret-keys`} elsewhere. Without the key ${totals.keys.join(", ")}, secrets in the dump are lost.`,
      );
    }
  });
}
