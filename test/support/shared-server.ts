// One service for all files of a worker: tenancy keeps them apart, as it keeps customers apart. A file works in orgs, services and
// kinds of its own, with names from `uniqueName`. A server of its own is for settings, kills, drift, and what sees or changes the whole
// installation: role bindings on the platform, the org `system`, a catalog without other entries, lists over all orgs, and the database
// as a whole, in which jobs may still do what earlier files have started.
import type { Kysely } from "kysely";
import type { Schema } from "../../src/database/schema.ts";
import { required } from "../../src/errors/required.ts";
import { atEndOfFiles } from "./end-of-file.ts";
import { expectNoDriftIn, openReader } from "./expect-no-drift.ts";
import { type TestServer, issuer, startTestServer } from "./test-server.ts";

/** A server that stays open for the next file. */
export type SharedServer = Omit<TestServer, "close">;

/** The servers of this worker, on one database, in the order in which they were started. */
const started: Promise<TestServer>[] = [];

/** What reads their database after a file. To open a connection takes longer than to read. */
let reader: Kysely<Schema> | undefined;
/** Whether the file that runs uses them. Most files do not. */
let isUsed = false;

/** Returns the server of this worker, with the default settings. */
export async function sharedServer(): Promise<SharedServer> {
  if (started.length === 0) {
    started.push(startTestServer({ issuer }));
    atEndOfFiles(leaveServers);
  }
  isUsed = true;
  return first();
}

/** Returns a second server on the database of the shared one: together they are one service. */
export async function secondSharedServer(): Promise<SharedServer> {
  const { databaseUrl, secretKeysFile } = await sharedServer();
  started[1] ??= startTestServer({ issuer, databaseUrl, secretKeysFile });
  return started[1];
}

function first(): Promise<TestServer> {
  return required(started[0]);
}

/**
 * Checks what a file wrote.
 *
 * @throws Error if counts, labels or quotas are not what the rows say.
 */
async function leaveServers(): Promise<void> {
  if (!isUsed) return;
  isUsed = false;
  const { databaseUrl } = await first();
  reader ??= await openReader(databaseUrl);
  await expectNoDriftIn(reader);
}
