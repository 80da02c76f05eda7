// Removes rows that are of no use after a time, and of which no log says anything: some at a time, in two steps. The search is of all orgs and
// locks nothing; then the rows are locked, checked again and deleted in the org in which they were found. So no statement that locks is of
// several customers, and no call pays for the rows of others.
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { isInOrgOf } from "./org-key.ts";
import type { Schema } from "./schema.ts";

/** Rows that are of no use some time after that in one of their columns, which an index is on. */
export interface OldRows {
  readonly table: keyof Schema;
  /** The columns by which a row is found: its whole key in its org, or in the table if its rows are in no org. */
  readonly key: readonly string[];
  /** The types of those of them that are no ids. */
  readonly keyTypes?: Readonly<Record<string, "text" | "timestamptz">>;
  readonly isInNoOrg?: true;
  readonly time: string;
  /** How long they are of use after that time, in milliseconds. */
  readonly keptMs: number;
}

type Found = Readonly<Record<string, string>>;

/** How many rows a search finds at most. */
const perSearch = 1_000;

/**
 * Removes the rows that are old at a time, until none is found or another server removes those that are.
 *
 * @param now by the database's clock.
 * @param signal ends it between two statements.
 * @returns how many rows were removed.
 */
export async function removeOldRows(
  db: Kysely<Schema>,
  rows: OldRows,
  now: string,
  signal: AbortSignal,
): Promise<number> {
  const { table, time, keptMs } = rows;
  const isOld = sql<SqlBool>`${sql.ref(`${table}.${time}`)} <= ${new Date(Date.parse(now) - keptMs)}`;
  for (let all = 0; ;) {
    const found = await findOldRows(db, rows, isOld);
    let removed = 0;
    for (const ofOrg of Map.groupBy(found, ({ org_id: orgId }) => orgId).values()) {
      if (signal.aborted) return all + removed;
      removed += await removeInOrg(db, rows, isOld, ofOrg);
    }
    all += removed;
    if (removed === 0 || found.length < perSearch) return all;
  }
}

/** Finds the oldest rows, with their orgs. */
async function findOldRows(
  db: Kysely<Schema>,
  { table, key, isInNoOrg, time }: OldRows,
  isOld: RawBuilder<SqlBool>,
): Promise<readonly Found[]> {
  const columns = [...(isInNoOrg ? [] : ["customer_id", "org_id"]), ...key];
  const { rows } = await sql<Found>`
    select ${sql.join(columns.map((column) => sql.ref(column)))} from ${sql.table(table)}
    where ${isOld} order by ${sql.ref(time)} limit ${perSearch}`.execute(db);
  return rows;
}

/** Deletes those rows of an org that are still old and that nobody else has locked. */
async function removeInOrg(
  db: Kysely<Schema>,
  { table, key, keyTypes = {}, isInNoOrg }: OldRows,
  isOld: RawBuilder<SqlBool>,
  found: readonly Found[],
): Promise<number> {
  const [{ customer_id: customerId = "", org_id: orgId = "" } = {}] = found;
  const isInOrg = isInNoOrg ? sql`true` : isInOrgOf(table, { customer_id: customerId, id: orgId });
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const typeOf = (column: string) => sql.raw(`${keyTypes[column] ?? "uuid"}[]`);
  const arrays = key.map((column) => sql`${found.map((row) => row[column])}::${typeOf(column)}`);
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ${isInOrg} and (${columns}) in (
      select ${columns} from ${sql.table(table)}
      where ${isInOrg} and (${columns}) in (select * from unnest(${sql.join(arrays)})) and ${isOld}
      for update skip locked
    )`.execute(db);
  return Number(numAffectedRows);
}
