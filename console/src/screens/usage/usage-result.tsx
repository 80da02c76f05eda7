import type { UsageSeries } from "../../../../gen/iam/v1alpha/usage_pb.ts";
import type { UsageGroup, UsageMeasure, UsageStep } from "../../app/usage-search.ts";
import { usageTexts } from "../../texts/usage-texts.ts";
import { type ChartLine, StackedChart } from "../../ui/chart/stacked-chart.tsx";
import { NumberTable } from "../../ui/number-table.tsx";
import { Section } from "../../ui/page.tsx";
import { toDistinctNames } from "./distinct-names.ts";
import { scaleOf } from "./scale.ts";
import { toDrawnLines, toShownUsage } from "./usage-lines.ts";
import { UsageTotals } from "./usage-totals.tsx";
import { useNamesBy } from "./use-group-names.ts";
import { writeMoment, writeStart, writeStep } from "./write-step.ts";

interface UsageResultProps {
  /** The org, project or customer. */
  readonly path: string;
  readonly series: readonly UsageSeries[];
  /** What is shown of it. */
  readonly kind: string;
  /** What people call the kind. */
  readonly name: string;
  readonly by: UsageGroup | undefined;
  readonly step: UsageStep;
  readonly measure: UsageMeasure;
}

/** So many have a colour of their own. */
const mostDrawn = 6;

const colorOf = (index: number): string => (index < mostDrawn ? `c${index + 1}` : "c0");

/** What was consumed of a kind: drawn, as sums of all of the time, and step by step. */
export function UsageResult({ path, series, kind, name, by, step, measure }: UsageResultProps) {
  const { steps, lines, unit } = toShownUsage(series, kind, by, step);
  const paths = lines.map((line) => line.path);
  const useNames = useNamesBy[by ?? "none"];
  const names = toDistinctNames(paths, useNames(path, paths));
  const drawn = toDrawnLines(lines, measure, mostDrawn);
  const totals = steps.map((_, index) => drawn.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const scale = scaleOf([...totals, ...drawn.flatMap(({ values }) => values)], unit);
  const shownUnit = measure === "hours" ? usageTexts.hours(scale.unit) : scale.unit;
  const shown = drawn.map(({ path: of, count, values }, index): ChartLine => {
    const text = of === undefined ? usageTexts.others(count) : (names.get(of) ?? of);
    const color = colorOf(index);
    return {
      key: of ?? "",
      text,
      name: <bdi title={of}>{text}</bdi>,
      color,
      values: values.map((each) => each / scale.size),
    };
  });
  const title = usageTexts.chart(name, by === undefined ? undefined : usageTexts.groups[by]);
  const [from, to] = [writeMoment(steps[0]?.start ?? 0), writeMoment(steps.at(-1)?.end ?? 0)];
  const isDivided = by !== undefined;
  const written = (values: readonly number[], index: number): string => scale.write(values[index] ?? 0);
  return (
    <>
      <Section title={title}>
        <StackedChart
          title={title}
          description={usageTexts.describes(measure, shownUnit, step, from, to)}
          unit={shownUnit}
          steps={steps}
          lines={shown}
          write={(value) => scale.write(value * scale.size)}
          writeStep={(each) => writeStep(step, each)}
          texts={{ total: usageTexts.total, moment: usageTexts.moment }}
        />
      </Section>
      <UsageTotals lines={lines} names={names} unit={unit} by={by} colorOf={colorOf} />
      <Section title={usageTexts.byStep(measure, shownUnit, step)}>
        <NumberTable
          label={usageTexts.byStep(measure, shownUnit, step)}
          head={usageTexts.steps[step]}
          columns={[
            ...shown.map(({ key, name: head }) => ({ key, title: head })),
            ...(isDivided ? [{ key: "total", title: usageTexts.total }] : []),
          ]}
          rows={steps.map((each, index) => ({
            key: String(each.start),
            head: writeStart(step, each),
            cells: [
              ...drawn.map(({ values }) => written(values, index)),
              ...(isDivided ? [written(totals, index)] : []),
            ],
          }))}
        />
      </Section>
    </>
  );
}
