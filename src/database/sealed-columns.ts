// The columns that a secret key encrypts, and how the database tells with which.
import { type RawBuilder, sql } from "kysely";
import type { Schema } from "./schema.ts";

type SealedIn<Table extends keyof Schema> = Extract<keyof Schema[Table], `sealed_${string}`>;

/** A column that is missing here does not compile. */
type SealedColumns = {
  readonly [Table in keyof Schema as [SealedIn<Table>] extends [never] ? never : Table]: Readonly<
    Record<SealedIn<Table>, true>
  >;
};

const columns: SealedColumns = {
  event_streams: { sealed_authorization: true },
  identity_providers: { sealed_secret: true },
  signing_keys: { sealed_key: true },
  webhooks: { sealed_previous_secret: true, sealed_secret: true },
};

/** Each as its table and its name. */
export const sealedColumns: readonly (readonly [table: string, column: string])[] = Object.entries(columns).flatMap(
  ([table, ofTable]) => Object.keys(ofTable).map((column) => [table, column] as const),
);

/** Returns the id of the secret key of a column, as `keyIdOfSealed` does: it follows the version of the form, in 8 bytes. */
export const keyIdInColumn = (column: string): RawBuilder<string> =>
  sql<string>`encode(substring(${sql.ref(column)} from 2 for 8), 'hex')`;
