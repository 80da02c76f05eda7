import type { Kysely } from "kysely";
import type { Logger } from "pino";
import type { Schema } from "../schema.ts";

/** How long a migration waits for a lock, and how often it tries. Calls that need the table wait behind it for as long. */
export interface MigrationLimits {
  readonly lockMs: number;
  readonly tries: number;
  /** Between two tries, in which the calls that have waited are carried out. */
  readonly pauseMs: number;
}

/** What the parts of a migration of the database share. */
export interface MigrationRun {
  /** With three connections: of the transaction, of a statement outside of it, and of one who looks what these wait for. */
  readonly db: Kysely<Schema>;
  readonly logger: Pick<Logger, "info" | "warn"> | undefined;
  /** Ends the run between two statements, and cancels the one that runs. */
  readonly signal: AbortSignal;
  readonly limits: MigrationLimits;
}
