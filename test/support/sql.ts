// What tests read and change behind the service's back.
import pg from "pg";

export type Row = Record<string, unknown>;

export interface SqlClient {
  query(text: string, values?: unknown[]): Promise<Row[]>;
  /**
   * Every row of every table as text, by table; equal before and after when nothing was written. Left out is when API
   * keys were last used, which any call may change.
   */
  readAll(): Promise<Record<string, string[]>>;
  close(): Promise<void>;
}

export async function openSqlClient(databaseUrl: string): Promise<SqlClient> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const query = async (text: string, values: unknown[] = []): Promise<Row[]> =>
    (await client.query<Row>(text, values)).rows;

  return {
    query,
    async readAll() {
      const tables = await query("select tablename as name from pg_tables where schemaname = 'public' order by 1");
      const all: Record<string, string[]> = {};
      for (const { name } of tables) {
        const rows = await query(
          `select (to_jsonb(t) - 'last_use_time')::text as row from ${pg.escapeIdentifier(String(name))} t order by 1`,
        );
        all[String(name)] = rows.map(({ row }) => String(row));
      }
      return all;
    },
    close: () => client.end(),
  };
}
