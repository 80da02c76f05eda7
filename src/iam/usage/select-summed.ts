// Reads usage with a summary: the sums of whole pieces of time, and the log of what is in none, which are the ends of the period, pieces in
// which one step follows another, and what came after the summary.
import { type RawBuilder, sql } from "kysely";
import { type Period, timeOfStep } from "./period.ts";
import {
  type Dimensions,
  type LogRange,
  type UsageRow,
  type UsageScope,
  groupKeys,
  selectChanges,
  selectSteps,
} from "./select-usage.ts";

/** The time that is summed up, in microseconds. */
export interface Summary {
  readonly id: string;
  readonly piece: number;
  readonly begins: number;
  readonly ends: number;
}

/** The org whose place rows about a scope have: a customer has that of an org. */
export const placeOf = ({ customerId, orgId }: UsageScope): string => orgId ?? customerId;

/** The condition of the sums of a summary, in SQL. */
export const isOfSummary = (scope: UsageScope, { id }: Pick<Summary, "id">): RawBuilder<unknown> =>
  sql`customer_id = ${scope.customerId} and org_id = ${placeOf(scope)} and summary_id = ${id}`;

export function selectSummed(
  scope: UsageScope,
  period: Period,
  dimensions: Dimensions,
  systemOrgId: string,
  summary: Summary,
): RawBuilder<UsageRow> {
  const { start } = period;
  const { piece, ends } = summary;
  const cut = piecesCut(period, summary);
  const ofGroup = sql`of_org_id as org_id, project_id, service_id, type_id, kind`;
  // What came after the summary adds to the amounts at its end, which are those of now then.
  return selectSteps(
    period,
    sql`
      with logged as materialized (${selectChanges(scope, dimensions, logRanges(period, summary, cut), systemOrgId)})
      select ${ofGroup}, null::bigint as at, change as amount, null::numeric as moment, null::numeric as top
      from usage_sums where ${isOfSummary(scope, summary)} and begins is null
      union all
      select ${groupKeys}, null, amount, null, null from logged where at > ${ends}::bigint
      union all
      select ${groupKeys}, at, amount, amount * (at - ${start}::bigint), null from logged where at > ${start}::bigint
      union all
      select ${ofGroup}, begins + ${piece}::bigint, change, moment + change * (begins - ${start}::bigint), highest
      from usage_sums
      where ${isOfSummary(scope, summary)} and begins >= ${start}::bigint and begins <> all (${cut}::bigint[])`,
  );
}

/** Returns when the pieces begin in which a step begins or ends, in order. */
function piecesCut(period: Period, { piece, begins, ends }: Summary): readonly number[] {
  const cut = new Set<number>();
  for (let index = 0; index <= period.steps; index++) {
    const time = timeOfStep(period, index);
    if (time > begins && time < ends && time % piece !== 0) cut.add(time - (time % piece));
  }
  return [...cut];
}

function logRanges({ start }: Period, { piece, begins, ends }: Summary, cut: readonly number[]): readonly LogRange[] {
  const before = start < begins ? [{ begins: start, ends: begins }] : [];
  const within = cut.map((time) => ({ begins: Math.max(time, start), ends: time + piece }));
  return [...before, ...within, { begins: ends, ends: Infinity }];
}
