// What usage must be, by the plainest means: at each moment at which something changed, the amounts of all resources are added up again,
// and each sum counts until the next moment. Times are microseconds, and amounts parts of one with 20 digits, as whole numbers.
import type { SqlClient } from "../../support/sql.ts";

export interface Entry {
  readonly time: bigint;
  readonly resourceId: string;
  readonly orgId: string;
  readonly projectId: string;
  readonly typeId: string;
  /** What the resource has been given from then on, by kind; undefined once it is gone. */
  readonly given: Readonly<Record<string, number>> | undefined;
}

/** How many digits of amounts are behind the point. */
const digits = 20;

export interface NaivePoint {
  readonly amount: string;
  readonly maximum: string;
  readonly amountSeconds: string;
}

export interface NaivePeriod {
  readonly start: bigint;
  readonly end: bigint;
  readonly step: bigint;
}

/** Reads the history of all resources of a customer, in order. */
export async function readHistory(sql: SqlClient, customerId: string): Promise<Entry[]> {
  const rows = await sql.query(
    `select (extract(epoch from time) * 1000000)::bigint as time, resource_id, org_id, before, after from changes
      where customer_id = $1 and resource_type = 'Resource' order by org_id, revision, position`,
    [customerId],
  );
  type Row = { project_id: string; type_id: string; given_quantities: Record<string, number> };
  return rows.map((row) => {
    const after = row["after"] as Row | null;
    const { project_id: projectId, type_id: typeId } = after ?? (row["before"] as Row);
    const [time, resourceId, orgId] = [BigInt(String(row["time"])), String(row["resource_id"]), String(row["org_id"])];
    return { time, resourceId, orgId, projectId, typeId, given: after?.given_quantities };
  });
}

/** Returns the points of each group and kind, by `group kind`, of those that consumed something. */
export function integrate(
  history: readonly Entry[],
  period: NaivePeriod,
  groupOf: (entry: Entry) => string,
): Map<string, NaivePoint[]> {
  const kinds = new Set(history.flatMap(({ given = {} }) => Object.keys(given)));
  const series = new Map<string, NaivePoint[]>();
  for (const group of new Set(history.map(groupOf))) {
    const entries = history.filter((entry) => groupOf(entry) === group);
    for (const kind of kinds) {
      const points = pointsOf(entries, kind, period);
      if (points.some(({ maximum }) => maximum !== "0")) series.set(`${group} ${kind}`, points);
    }
  }
  return series;
}

function pointsOf(entries: readonly Entry[], kind: string, { start, end, step }: NaivePeriod): NaivePoint[] {
  const points: NaivePoint[] = [];
  for (let begins = start; begins < end; begins += step) {
    const ends = begins + step < end ? begins + step : end;
    const within = entries.map(({ time }) => time).filter((time) => time > begins && time < ends);
    const moments = [begins, ...new Set(within.toSorted((one, other) => (one < other ? -1 : 1))), ends];
    const amounts = moments.map((moment) => amountAt(entries, kind, moment));
    let integral = 0n;
    for (const [index, amount] of amounts.slice(0, -1).entries()) {
      integral += amount * ((moments[index + 1] ?? 0n) - (moments[index] ?? 0n));
    }
    const maximum = amounts.reduce((one, other) => (one > other ? one : other));
    points.push({
      amount: decimal(amounts.at(-1) ?? 0n, digits),
      maximum: decimal(maximum, digits),
      amountSeconds: decimal(integral, digits + 6),
    });
  }
  return points;
}

function amountAt(entries: readonly Entry[], kind: string, moment: bigint): bigint {
  const last = new Map<string, Entry>();
  for (const entry of entries) if (entry.time <= moment) last.set(entry.resourceId, entry);
  return [...last.values()].reduce((sum, { given }) => sum + partsOf(given?.[kind] ?? 0), 0n);
}

/** Reads a decimal as the number of its parts. */
function partsOf(amount: number): bigint {
  const [whole = "", fraction = ""] = String(amount).split(".");
  return BigInt(whole + fraction.padEnd(digits, "0"));
}

/** Writes a whole number of parts of one as a decimal: 25 tenths are `2.5`. */
function decimal(parts: bigint, length: number): string {
  const text = String(parts).padStart(length + 1, "0");
  return `${text.slice(0, -length)}.${text.slice(-length)}`.replace(/\.?0+$/, "");
}
