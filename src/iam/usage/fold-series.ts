// Makes series of what was read: the amount at the start of the period, and from there on step by step. Decimals are exact.
import { Big } from "big.js";
import { type Period, timeOfStep } from "./period.ts";
import type { GroupKey, UsageRow } from "./select-usage.ts";

/** What a group consumed of a kind in a step. */
interface StepUsage {
  /** At the end. */
  readonly amount: string;
  readonly maximum: string;
  /** Amounts times seconds. */
  readonly amountSeconds: string;
}

export interface GroupUsage {
  readonly group: GroupKey;
  readonly steps: readonly StepUsage[];
}

const zero = new Big(0);

const perMicrosecond = new Big("0.000001");

/**
 * Returns what a group consumed.
 *
 * @param rows of the group, in the order of their steps.
 * @returns undefined if that is nothing.
 */
export function foldSeries(period: Period, rows: readonly [UsageRow, ...UsageRow[]]): GroupUsage | undefined {
  const byStep = new Map(rows.map((row) => [row.step, row]));
  const changed = rows.filter(({ step }) => step >= 0);
  const ofNow = new Big(byStep.get(-1)?.change ?? 0);
  const atStart = changed.reduce((sum, { change }) => sum.minus(change), ofNow);
  if (atStart.eq(zero) && changed.every(({ step }) => step === period.steps)) return undefined;
  let amount = atStart;
  const steps = Array.from({ length: period.steps }, (_, index): StepUsage => {
    const [begins, ends] = [timeOfStep(period, index), timeOfStep(period, index + 1)];
    const before = amount;
    const row = byStep.get(index);
    // Each change counts from when it was made to the end of the step.
    const constant = before.times(ends - begins);
    if (row === undefined) return toStep(before, before, constant);
    const { change, moment, highest } = row;
    amount = before.plus(change);
    const integral = constant.plus(new Big(change).times(ends - period.start).minus(moment));
    const top = atStart.plus(highest);
    return toStep(amount, top.gt(before) ? top : before, integral);
  });
  const { org_id, project_id, service_id, type_id, kind } = rows[0];
  return { group: { org_id, project_id, service_id, type_id, kind }, steps };
}

function toStep(amount: Big, maximum: Big, microseconds: Big): StepUsage {
  return {
    amount: amount.toFixed(),
    maximum: maximum.toFixed(),
    amountSeconds: microseconds.times(perMicrosecond).toFixed(),
  };
}
