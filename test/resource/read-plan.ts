// What a statement did, as PostgreSQL tells it.
import { Kysely, PostgresDialect } from "kysely";
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
  /** How many rows were read from tables and indexes, those that were then left out too. */
  readonly rowsRead: number;
  /** The tables that were read from one end to the other. */
  readonly scannedTables: readonly string[];
  /** For people. */
  readonly text: string;
}

export interface PlanReader {
  /** Runs what reads rows, and then its statements again to be told how the last one goes. */
  read<Row>(run: (db: Kysely<Schema>) => Promise<Row[]>): Promise<{ readonly rows: Row[]; readonly plan: Plan }>;
  close(): Promise<void>;
}

export function createPlanReader(url: string): PlanReader {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  let statements: { readonly sql: string; readonly parameters: readonly unknown[] }[] = [];
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void statements.push(query),
  });
  return {
    async read(run) {
      statements = [];
      const rows = await run(db);
      const ran = statements.filter(({ sql }) => sql !== "begin" && sql !== "commit");
      const last = ran.pop();
      if (last === undefined) throw new Error("no statement was run");
      await pool.query("begin");
      for (const { sql, parameters } of ran) await pool.query(sql, [...parameters]);
      const answer = await pool.query<{ "QUERY PLAN": readonly [{ readonly Plan: PlanNode }] }>(
        `explain (analyze, format json) ${last.sql}`,
        [...last.parameters],
      );
      await pool.query("rollback");
      const root = answer.rows[0]?.["QUERY PLAN"][0].Plan;
      if (root === undefined) throw new Error("a statement without a plan");
      return { rows, plan: summarise(root) };
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
