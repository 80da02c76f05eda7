// Asks for usage with sums of short pieces of time, so that a history of seconds has many of them.
import { afterAll } from "vitest";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import type { Dimensions, UsageScope } from "../../../src/iam/usage/select-usage.ts";
import { type UsageLimits, createQueryUsage, usageLimits } from "../../../src/iam/usage/query-usage.ts";
import type { SqlClient } from "../../support/sql.ts";
import { type Entry, type NaivePeriod, type NaivePoint, integrate } from "./naive-usage.ts";

/** Pieces so short that a fast machine makes a history of many, too. They are summed up as soon as they are over. */
export const shortPieces: UsageLimits = {
  ...usageLimits,
  summaries: { pieces: [50_000, 250_000], marginMicroseconds: 0, leastPieces: 1 },
};

export const undivided: Dimensions = { org: false, project: false, service: false, type: false };

export type AskSummed = (
  scope: UsageScope,
  period: NaivePeriod,
  dimensions?: Dimensions,
) => Promise<Map<string, readonly NaivePoint[]>>;

/** Opens the database as one more server has it, until the tests of the file have ended. */
export function openServer(databaseUrl: string): Database {
  const connection = { connectionString: databaseUrl };
  const pools = { maxReadConnections: 2, maxWriteConnections: 2 };
  const database = openDatabase({ connection, ...pools, onConnectionError: () => {} });
  afterAll(() => database.close());
  return database;
}

/** Returns a function that asks one server, and returns the points of each group and kind, by `group kind`. */
export async function createAskSummed(
  database: Pick<Database, "reads" | "writes">,
  sql: SqlClient,
  limits: UsageLimits = shortPieces,
): Promise<AskSummed> {
  const [system] = await sql.query("select id from orgs where name = 'system'");
  const query = createQueryUsage({ database, installation: { systemOrgId: String(system?.["id"]) } }, limits);
  return async (scope, { start, end, step }, dimensions = undivided) => {
    const { signal } = new AbortController();
    const asked = { start: Number(start), end: Number(end), step: Number(step) };
    const call = { orgId: scope.id, signal, timeoutMs: () => undefined };
    const { groups } = await query(call, { scope, asked, dimensions });
    return new Map(
      groups.map(({ group, steps }) => {
        const keys = [
          dimensions.org && group.org_id,
          dimensions.project && group.project_id,
          dimensions.type && group.type_id,
        ];
        return [`${keys.join(" ")} ${group.kind}`, steps];
      }),
    );
  };
}

/** Returns what the same question must get. */
export function naively(
  history: readonly Entry[],
  { kind, id, orgId }: UsageScope,
  period: NaivePeriod,
  { org, project, type }: Dimensions = undivided,
): Map<string, NaivePoint[]> {
  const isIn = (entry: Entry) =>
    kind === "customer" || entry.orgId === id || (entry.orgId === orgId && entry.projectId === id);
  return integrate(history.filter(isIn), period, (entry) =>
    [org && entry.orgId, project && entry.projectId, type && entry.typeId].join(" "),
  );
}
