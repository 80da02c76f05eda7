import { Kysely, PostgresDialect, sql } from "kysely";
import type pg from "pg";
import { ofOneConnection } from "../database.ts";
import { type ConnectionSettings, addressOf, onFirstPrimary } from "../primary-client.ts";
import type { Schema } from "../schema.ts";

/** One connection, for statements and for COPY, which Kysely does not know. */
export interface Session {
  /** All its statements, also those of transactions, are of the connection. */
  readonly db: Kysely<Schema>;
  readonly client: pg.Client;
  close(): Promise<void>;
  /** Ends the connection, whatever it is doing. The server rolls back its transaction. */
  abort(): void;
}

/** @param acceptsStandby whether it only reads. */
export async function openSession(
  connection: ConnectionSettings,
  applicationName: string,
  acceptsStandby: boolean,
): Promise<Session> {
  const { config, Client, hosts } = addressOf(connection, { acceptsStandby });
  const client = await onFirstPrimary(hosts, async () => {
    const next = new Client({ ...config, ...ofOneConnection, application_name: applicationName });
    // A connection that breaks fails its statement. Without a listener, the event would also end the process.
    next.on("error", () => {});
    await next.connect();
    return next;
  });
  // Nobody else uses it.
  const kept = Object.assign(client, { release: () => {} });
  const pool = { connect: () => Promise.resolve(kept), end: () => client.end(), options: {} };
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  return { db, client, close: () => db.destroy(), abort: () => void client.connection.stream.destroy() };
}

/** How values are written as text, the same for each server and role, and limits of a transaction that takes long. */
const settings: Readonly<Record<string, string>> = {
  timezone: "UTC",
  datestyle: "ISO, MDY",
  intervalstyle: "postgres",
  bytea_output: "hex",
  extra_float_digits: "1",
  statement_timeout: "0",
  idle_in_transaction_session_timeout: "0",
  lock_timeout: "30s",
  jit: "off",
  work_mem: "64MB",
  maintenance_work_mem: "256MB",
};

/** Sets up a transaction in which tables are copied, until it ends. */
export async function prepareForCopies(db: Kysely<Schema>): Promise<void> {
  const each = Object.entries(settings).map(([name, value]) => sql`set_config(${name}, ${value}, true)`);
  await sql`select ${sql.join(each)}`.execute(db);
}
