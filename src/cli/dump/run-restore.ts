import { existsSync } from "node:fs";
import type { Logger } from "pino";
import { DumpError } from "../../database/dump/dump-error.ts";
import { loadDump } from "../../database/dump/load-dump.ts";
import { type Manifest, damaged } from "../../database/dump/manifest.ts";
import { requireTables, tablesOfDump } from "../../database/dump/dumped-tables.ts";
import { readDump } from "../../database/dump/read-dump.ts";
import { readRole } from "../../database/migration/applied.ts";
import { migrations } from "../../database/migrations/all.ts";
import { operatorKeyFile } from "../../installation/operator-key-file.ts";
import { findSecretKeyIds, saveSecretKeys, secretKeysFileOf } from "../../installation/secret-keys-file.ts";
import type { RunningDatabase } from "../../installation/start-database.ts";
import { count } from "../plural.ts";
import type { ProgressStream } from "../report/progress.ts";
import { isEncryptedDump, readDumpFile } from "./dump-file.ts";
import { createRowProgress } from "./dump-progress.ts";
import type { DecryptionOptions } from "./encryption.ts";

export interface RestoreCommandOptions extends DecryptionOptions {
  readonly check?: boolean;
  /** Whether secrets that other keys have encrypted may be lost. */
  readonly otherSecretKeys?: boolean;
}

export interface RestoreContext {
  readonly dataDirectory: string;
  readonly secretKeysFile: string | undefined;
  readonly withDatabase: (run: (running: RunningDatabase) => Promise<void>) => Promise<void>;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly print: (line: string) => void;
  /** Where it says how far it is. */
  readonly progressStream: ProgressStream;
}

/** Checks that a dump is whole, without a database. @throws DumpError */
export async function checkDump(
  file: string,
  options: RestoreCommandOptions,
  print: (line: string) => void,
  progressStream: ProgressStream = process.stderr,
): Promise<void> {
  const progress = createRowProgress(progressStream);
  let manifest: Manifest | undefined;
  const found: string[] = [];
  try {
    const { tables, rows } = await readDump(readDumpFile(file, options), {
      async onManifest(given) {
        await refuseClearKeys(file, given);
        manifest = given;
      },
      async onTable({ table }, chunks) {
        let bytes = 0;
        for await (const chunk of chunks) progress.advance(table, (bytes += chunk.length));
      },
      async onTableEnd({ table }, end) {
        found.push(table);
        progress.end(table, end);
      },
    });
    if (isOfThisVersion(manifest)) requireTables(tablesOfDump, found);
    progress.close();
    print(`${file} is whole: ${count(rows, "row")} of ${count(tables, "table")}, ${describeOrigin(manifest)}`);
    const keys = manifest?.secretKeys ?? [];
    if (keys.length === 0) return;
    const has = manifest?.secretKeysFile === undefined ? "It needs" : "It has";
    print(`${has} the secret keys ${keys.join(", ")}`);
  } finally {
    progress.close();
  }
}

/** Restores a dump into an empty database. @throws DumpError; nothing is restored then. */
export async function restoreDump(
  file: string,
  options: RestoreCommandOptions,
  { dataDirectory, secretKeysFile, withDatabase, signal, logger, print, progressStream }: RestoreContext,
): Promise<void> {
  const progress = createRowProgress(progressStream);
  const keysFile = secretKeysFileOf(dataDirectory, secretKeysFile);
  const text = readDumpFile(file, options);
  await withDatabase(async ({ database, ownerConnection, migrate }) => {
    let undo: () => Promise<void> = async () => {};
    const loaded = await loadDump(ownerConnection, text, {
      logger,
      signal,
      progress,
      servedBy: await readRole(database.reads),
      async onManifest(manifest) {
        await refuseClearKeys(file, manifest);
        if (options.otherSecretKeys !== true) await requireSecretKeys(manifest, keysFile);
      },
      async beforeCommit({ secretKeysFile: saved }) {
        if (saved !== undefined && !existsSync(keysFile)) undo = await saveSecretKeys(keysFile, saved);
      },
    })
      .catch(async (error: unknown) => {
        await undo();
        throw error;
      })
      .finally(() => progress.close());
    const { manifest, tables, rows, ended } = loaded;
    print(`Restored ${count(rows, "row")} of ${count(tables, "table")}, ${describeOrigin(manifest)}`);
    print(`Ended all tokens and sign-ins, and ${count(ended.sessions, "session")}: people sign in again.`);
    print(
      `API keys are as they were at ${manifest.time} (${ended.apiKeys} valid): one that was deleted or rotated since is valid again, so delete it, and one that was created since is gone.`,
    );
    const isLost = options.otherSecretKeys === true && (await missingKeys(manifest, keysFile)).length > 0;
    if (isLost) {
      print(
        "What other secret keys had encrypted is lost: set the client_secret of identity providers again, and rotate the secrets of webhooks.",
      );
    }
    if (!existsSync(operatorKeyFile(dataDirectory))) {
      print(`${operatorKeyFile(dataDirectory)} is not there: tenantry operator-key makes another key.`);
    }
    const { applied } = await migrate();
    if (applied.length > 0) print(`Migrated: ${applied.join(", ")}`);
  });
}

/** Which tables a dump of another version has is known once its migrations are applied. */
function isOfThisVersion(manifest: Manifest | undefined): boolean {
  const [applied, known] = [new Set(manifest?.migrations), Object.keys(migrations)];
  return applied.size === known.length && known.every((name) => applied.has(name));
}

function describeOrigin(manifest: Manifest | undefined): string {
  if (manifest === undefined) return "";
  return `as of ${manifest.time}, from PostgreSQL ${manifest.postgresql}`;
}

/** A dump that is not encrypted is never written with secret keys: somebody else has put them there. @throws DumpError DAMAGED */
async function refuseClearKeys(file: string, { secretKeysFile }: Manifest): Promise<void> {
  if (secretKeysFile !== undefined && !(await isEncryptedDump(file)))
    throw damaged("it has secret keys although it is not encrypted");
}

/** @throws DumpError WRONG_KEY when a key with which something in the dump is encrypted is neither here nor in the dump. */
async function requireSecretKeys(manifest: Manifest, keysFile: string): Promise<void> {
  const missing = await missingKeys(manifest, keysFile);
  if (missing.length === 0 || (manifest.secretKeysFile !== undefined && !existsSync(keysFile))) return;
  const remedy =
    manifest.secretKeysFile === undefined
      ? "Put the file with the secret keys of the service there"
      : "Move that file away, and the one in the dump takes its place";
  throw new DumpError(
    "WRONG_KEY",
    `secrets in the dump are encrypted with the secret key ${missing.join(", ")}, and ${keysFile} ${existsSync(keysFile) ? "has other ones" : "does not exist"}. ${remedy}, or lose these secrets with --other-secret-keys`,
  );
}

async function missingKeys({ secretKeys }: Manifest, keysFile: string): Promise<readonly string[]> {
  const here = await findSecretKeyIds(keysFile);
  return secretKeys.filter((id) => !here.includes(id));
}
