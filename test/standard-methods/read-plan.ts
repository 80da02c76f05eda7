// Reads what a statement did from PostgreSQL's plans.
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  type PostgresPoolClient,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import pg from "pg";
import type { Schema } from "../../src/database/schema.ts";

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanNode[];
}

interface Plan {
  /** How many rows were read from tables and indexes, including those that were then filtered out. */
  readonly rowsRead: number;
  /** The tables that were read completely. */
  readonly scannedTables: readonly string[];
  /** The plan for messages. */
  readonly text: string;
}

export interface ListParts<Row> {
  /** The number of rows of the whole list. */
  readonly count: number;
  /** The rows by their numbers in the list, from 1. */
  readonly rows: ReadonlyMap<number, Row>;
}

export interface PlanReader {
  /**
   * Runs the statements of a function that reads rows, and explains the last of them.
   *
   * @param settings of the transaction.
   */
  read<Row>(
    run: (db: Kysely<Schema>) => Promise<Row[]>,
    settings?: readonly string[],
  ): Promise<{ readonly rows: Row[]; readonly plan: Plan }>;
  /**
   * Reads rows of a whole list, which the database numbers, so that this process does not read the others.
   *
   * @param run reads the whole list. Its statements are recorded, and not run as they are.
   * @param width how many rows are read at the beginning, before and after the middle, and at the end.
   */
  readParts<Row>(run: (db: Kysely<Schema>) => Promise<Row[]>, width: number): Promise<ListParts<Row>>;
  /** Reads the rows of a whole list. */
  readAll<Row>(run: (db: Kysely<Schema>) => Promise<Row[]>): Promise<Row[]>;
  close(): Promise<void>;
}

interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Lets a whole list be sorted in memory. Pages are read and explained as the service reads them. */
const inMemory = "set local work_mem = '64MB'";

/**
 * Lets the database tell the plan of a statement with its rows, so that it plans and runs the statement once. Times are not
 * measured.
 */
const explained = [
  "auto_explain.log_min_duration = 0",
  "auto_explain.log_analyze = on",
  "auto_explain.log_timing = off",
  "auto_explain.log_format = json",
  "auto_explain.log_level = notice",
]
  .map((setting) => `set local ${setting}`)
  .join("; ");

/** Returns the statements that a function runs, without running them. */
async function statementsOf(run: (db: Kysely<Schema>) => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query),
  });
  await run(db);
  return statements;
}

/** An array is one of texts, ids or numbers. */
function literalOf(value: unknown): string {
  return pg.escapeLiteral(
    Array.isArray(value) ? `{${value.map((item) => JSON.stringify(item)).join(",")}}` : textOf(value),
  );
}

export function createPlanReader(url: string): PlanReader {
  const pool = new pg.Pool({ connectionString: url, max: 1, options: "-c session_preload_libraries=auto_explain" });
  // A pool ends before its connection has, which then may hear that the database is dropped.
  pool.on("error", () => {});
  /** The plan of the last statement that was explained. */
  let plan: PlanNode | undefined;
  pool.on("connect", (client) => {
    client.on("notice", ({ message = "" }) => {
      const [, json] = /^duration: .* plan:\n(.*)$/s.exec(message) ?? [];
      if (json !== undefined) plan = (JSON.parse(json) as { readonly Plan: PlanNode }).Plan;
    });
  });
  /** The statement that is explained. */
  let page = "";
  // All is run in the transaction of this reader.
  const query = (text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> => {
    if (text === "begin" || text === "commit") return pool.query("");
    if (text !== page) return pool.query(text, [...values]);
    return pool.query(`execute page${values.length === 0 ? "" : `(${values.map(literalOf).join(", ")})`}`);
  };
  const connection = { query, release: () => {} } as unknown as PostgresPoolClient;
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({
      pool: { options: {}, connect: () => Promise.resolve(connection), end: () => pool.end() },
    }),
  });
  /**
   * Runs statements, the last one rewritten, in a transaction that is rolled back. Returns the rows of the last one.
   *
   * @param settings the SQL that changes settings for the transaction.
   */
  async function runLast<Row>(
    all: readonly Statement[],
    rewrite: (sql: string) => string,
    settings = "",
  ): Promise<Row[]> {
    const ran = all.filter(({ sql }) => sql !== "begin" && sql !== "commit");
    const last = ran.pop();
    if (last === undefined) throw new Error("no statement was run");
    await pool.query(`begin; ${settings}`);
    for (const { sql, parameters } of ran) await pool.query(sql, [...parameters]);
    const { rows } = await pool.query(rewrite(last.sql), [...last.parameters]);
    await pool.query("rollback");
    return rows as Row[];
  }

  return {
    async read(run, settings = []) {
      const last = (await statementsOf(run)).at(-1);
      if (last === undefined) throw new Error("no statement was run");
      page = last.sql;
      plan = undefined;
      // Prepared, because a plan that is kept does not know the values.
      const all = [explained, ...settings.map((setting) => `set local ${setting}`)];
      await pool.query(`prepare page as ${page}; begin; ${all.join("; ")}`);
      const rows = await run(db);
      await pool.query("rollback; deallocate page");
      if (plan === undefined) throw new Error("a statement without a plan");
      return { rows, plan: summarise(plan) };
    },

    async readParts<Row>(run: (of: Kysely<Schema>) => Promise<Row[]>, width: number) {
      const rows = await runLast<Row & { row_number?: string; count?: string }>(
        await statementsOf(run),
        (sql) => `
          select * from (
            select row_number() over () as row_number, count(*) over () as count, listed.* from (${sql}) as listed
          ) as numbered
          where row_number <= ${width} or row_number > count - ${width} or abs(2 * row_number - count) <= ${2 * width}`,
        inMemory,
      );
      const numbered = rows.map((row): readonly [number, Row] => {
        const { row_number: number, count: _count, ...own } = row;
        return [Number(number), own as Row];
      });
      return { count: Number(rows[0]?.count ?? 0), rows: new Map(numbered) };
    },

    async readAll<Row>(run: (of: Kysely<Schema>) => Promise<Row[]>) {
      return runLast<Row>(await statementsOf(run), (sql) => sql, inMemory);
    },

    close: () => db.destroy(),
  };
}

function summarise(root: PlanNode): Plan {
  const scans = nodesOf(root).filter((node) => node["Relation Name"] !== undefined);
  return {
    rowsRead: scans.reduce((sum, node) => sum + rowsReadBy(node), 0),
    scannedTables: scans.filter((node) => node["Node Type"] === "Seq Scan").map((node) => node["Relation Name"] ?? ""),
    text: render(root),
  };
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function render(node: PlanNode, indent = "\n"): string {
  const parts = [node["Node Type"], node["Index Name"] ?? node["Relation Name"], node["Index Cond"]];
  const line = `${parts.filter((part) => part !== undefined).join(" ")}: ${rowsReadBy(node)} rows`;
  return [`${indent}${line}`, ...(node.Plans ?? []).map((plan) => render(plan, `${indent}  `))].join("");
}

/** The figures of a node are those of one loop. */
function rowsReadBy(node: PlanNode): number {
  const removed = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  return (node["Actual Rows"] + removed) * node["Actual Loops"];
}

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));
