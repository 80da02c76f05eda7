// Reads what a statement did from PostgreSQL's plans.
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
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

export interface PlanReader {
  /** Runs a function that reads rows, and then explains the last of its statements. */
  read<Row>(run: (db: Kysely<Schema>) => Promise<Row[]>): Promise<{ readonly rows: Row[]; readonly plan: Plan }>;
  /** Returns the number of rows of a whole list. Takes the same function as `readNumbered`. */
  count(run: (db: Kysely<Schema>) => Promise<unknown>): Promise<number>;
  /**
   * Returns rows of a whole list by their numbers in it, from 1; nothing for a number that no row has. The database numbers the
   * rows, so this process does not read the others.
   *
   * @param run reads the whole list. Its statements are recorded, and not run as they are.
   */
  readNumbered<Row>(
    run: (db: Kysely<Schema>) => Promise<Row[]>,
    numbers: readonly number[],
  ): Promise<ReadonlyMap<number, Row>>;
  close(): Promise<void>;
}

interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Lets a whole list be sorted in memory. Pages are read and explained as the service reads them. */
const inMemory = "set local work_mem = '64MB'";

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
    Array.isArray(value) ? `{${value.map((item) => JSON.stringify(item)).join(",")}}` : String(value),
  );
}

export function createPlanReader(url: string): PlanReader {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  // A pool ends before its connection has, which then may hear that the database is dropped.
  pool.on("error", () => {});
  let statements: Statement[] = [];
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void statements.push(query),
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
    async read(run) {
      statements = [];
      const rows = await run(db);
      // Prepared, because a plan that is kept does not know the values.
      const prepared = statements.map((statement, index): Statement => {
        if (index < statements.length - 1) return statement;
        const values = statement.parameters.map(literalOf);
        return { sql: `execute page${values.length === 0 ? "" : `(${values.join(", ")})`}`, parameters: [] };
      });
      await pool.query(`prepare page as ${statements.at(-1)?.sql}`);
      const answer = await runLast<{ "QUERY PLAN": readonly [{ readonly Plan: PlanNode }] }>(
        prepared,
        (sql) => `explain (analyze, format json) ${sql}`,
      );
      await pool.query("deallocate page");
      const root = answer[0]?.["QUERY PLAN"][0].Plan;
      if (root === undefined) throw new Error("a statement without a plan");
      return { rows, plan: summarise(root) };
    },

    async count(run) {
      const [counted] = await runLast<{ count: number }>(
        await statementsOf(run),
        (sql) => `select count(*)::int as count from (${sql}) as listed`,
        inMemory,
      );
      return counted?.count ?? 0;
    },

    async readNumbered<Row>(run: (of: Kysely<Schema>) => Promise<Row[]>, numbers: readonly number[]) {
      const rows = await runLast<Row & { row_number?: string }>(
        await statementsOf(run),
        (sql) => `
          select * from (select row_number() over () as row_number, listed.* from (${sql}) as listed) as numbered
          where row_number in (${numbers.join(", ")})`,
        inMemory,
      );
      return new Map(
        rows.map((row) => {
          const { row_number: number, ...own } = row;
          return [Number(number), own as Row];
        }),
      );
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
