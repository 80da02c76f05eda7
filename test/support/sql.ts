// What tests read and change behind the service's back.
import pg from "pg";

type Row = Record<string, unknown>;

export interface SqlClient {
  query(text: string, values?: unknown[]): Promise<Row[]>;
  /**
   * For each table how many rows it has and what stands for their versions; equal before and after when nothing was
   * written. Left out is when API keys were last used, which any call may change.
   */
  summarise(): Promise<Row>;
  /** The tables that have a row with this text in it; bytes are searched as hexadecimal digits. */
  tablesWith(text: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function openSqlClient(databaseUrl: string): Promise<SqlClient> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const query = async (text: string, values: unknown[] = []): Promise<Row[]> =>
    (await client.query<Row>(text, values)).rows;
  const found = await query(
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  );
  const tables = found.map(({ name }) => String(name));

  return {
    query,
    async summarise() {
      const columns = tables.map((table) => {
        const name = pg.escapeIdentifier(table);
        return `(select count(*) || ' rows, ' || coalesce(sum(${versionIn(table)}), 0) from ${name} t) as ${name}`;
      });
      return (await query(`select ${columns.join(", ")}`))[0] ?? {};
    },
    async tablesWith(text) {
      const having = [];
      for (const table of tables) {
        const from = `from ${pg.escapeIdentifier(table)} t where position($1 in to_jsonb(t)::text) > 0`;
        if ((await query(`select 1 ${from} limit 1`, [text])).length > 0) having.push(table);
      }
      return having;
    },
    close: () => client.end(),
  };
}

/** Changes with each write of a row: the transaction that wrote it, or else a hash. */
function versionIn(table: string): string {
  return table === "api_keys" ? "hashtextextended((to_jsonb(t) - 'last_use_time')::text, 0)" : "t.xmin::text::bigint";
}
