// Direct access to the database, which bypasses the service.
import pg from "pg";

type Row = Record<string, unknown>;

/**
 * What servers write beside calls, seconds later: refused calls, what gave a permission and that this is recorded, who listens for changes,
 * and deliveries with their places in the logs.
 */
const besideCalls = new Set([
  "access_events",
  "access_uses",
  "use_recording",
  "log_listeners",
  "webhook_deliveries",
  "webhook_logs",
]);

export interface SqlClient {
  query(text: string, values?: unknown[]): Promise<Row[]>;
  /**
   * Returns the number of rows in each table, and a checksum of their versions. Both stay the same if no call writes anything.
   * What a server writes beside calls is excluded: tables, and the time of the last use of API keys.
   */
  summarise(): Promise<Row>;
  /** Returns the tables with a row that contains this text; bytes are searched as hexadecimal digits. */
  tablesWith(text: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function openSqlClient(databaseUrl: string): Promise<SqlClient> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const query = async (text: string, values: unknown[] = []): Promise<Row[]> => {
    // Within a transaction, no session would be seen that has begun since it first looked for one.
    if (text.includes("pg_stat_activity")) await client.query("select pg_stat_clear_snapshot()");
    return (await client.query<Row>(text, values)).rows;
  };
  const found = await query(
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  );
  const tables = found.map(({ name }) => String(name));
  const ofCalls = tables.filter((table) => !besideCalls.has(table));
  const columns = ofCalls.map((table) => {
    const name = pg.escapeIdentifier(table);
    return `(select count(*) || ' rows, ' || coalesce(sum(${versionIn(table)}), 0) from ${name} t) as ${name}`;
  });
  // With a name it is planned once, which takes longer than to run it.
  const summary = { name: "summary", text: `select ${columns.join(", ")}` };

  return {
    query,
    async summarise() {
      return (await client.query<Row>(summary)).rows[0] ?? {};
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

/** Returns an SQL expression that changes with each write of a row, except for the last use of an API key. */
function versionIn(table: string): string {
  return table === "api_keys" ? "hashtextextended((to_jsonb(t) - 'last_use_time')::text, 0)" : "t.xmin::text::bigint";
}
