import { Link, useSearch } from "@tanstack/react-router";
import type { UsageGroup } from "../../app/usage-search.ts";
import { usageOf } from "../../calls/paths.ts";
import { usageTexts } from "../../texts/usage-texts.ts";
import { NumberTable } from "../../ui/number-table.tsx";
import { Section } from "../../ui/page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { isDeleted } from "./distinct-names.ts";
import { scaleOf } from "./scale.ts";
import type { UsageLine } from "./usage-lines.ts";

interface UsageTotalsProps {
  readonly lines: readonly UsageLine[];
  /** What people call them, by their paths. */
  readonly names: ReadonlyMap<string, string>;
  readonly unit: string;
  readonly by: UsageGroup | undefined;
  /** Returns the colour of a line in the chart, by its place. */
  readonly colorOf: (index: number) => string;
}

/** What each has consumed in all of the time. */
export function UsageTotals({ lines, names, unit, by, colorOf }: UsageTotalsProps) {
  const columnOf = (valueOf: (line: UsageLine) => number) => {
    const values = lines.map(valueOf);
    return { values, sum: values.reduce((sum, value) => sum + value, 0) };
  };
  const average = columnOf((line) => line.averageOfAll);
  const maximum = columnOf((line) => line.maximum);
  const last = columnOf((line) => line.last);
  const hours = columnOf((line) => line.hoursOfAll);
  const amounts = [...maximum.values, last.sum];
  const [ofAverage, ofOthers, ofHours] = [
    scaleOf([...average.values, average.sum], unit, amounts),
    scaleOf([...amounts, ...last.values], unit, [average.sum]),
    scaleOf([...hours.values, hours.sum], unit),
  ];
  const rows = lines.map((line, index) => ({
    key: line.path,
    head:
      by === undefined ? (
        usageTexts.all
      ) : (
        <>
          <span className={`swatch ${colorOf(index)}`} />{" "}
          <Consumer path={line.path} name={names.get(line.path) ?? ""} by={by} />
        </>
      ),
    cells: [
      ofAverage.write(line.averageOfAll),
      ofOthers.write(line.maximum),
      ofOthers.write(line.last),
      ofHours.write(line.hoursOfAll),
    ],
  }));
  // The greatest amount of all together is not the sum of the greatest ones, which were at different times.
  const cells = [ofAverage.write(average.sum), "", ofOthers.write(last.sum), ofHours.write(hours.sum)];
  return (
    <Section title={usageTexts.inAll}>
      <NumberTable
        label={usageTexts.inAll}
        head={by === undefined ? usageTexts.undividedHead : usageTexts.groups[by]}
        columns={[
          { key: "average", title: usageTexts.withUnit(usageTexts.average, ofAverage.unit) },
          { key: "maximum", title: usageTexts.withUnit(usageTexts.maximum, ofOthers.unit) },
          { key: "last", title: usageTexts.withUnit(usageTexts.last, ofOthers.unit) },
          { key: "hours", title: usageTexts.hours(ofHours.unit) },
        ]}
        rows={rows}
        total={by === undefined ? undefined : { key: "total", head: usageTexts.total, cells }}
      />
    </Section>
  );
}

interface ConsumerProps {
  readonly path: string;
  readonly name: string;
  readonly by: UsageGroup;
}

/** Leads to the usage of an org or project in the same time, or to the screen of something else. */
function Consumer({ path, name, by }: ConsumerProps) {
  const search = useSearch({ strict: false });
  if (isDeleted(path)) return <bdi title={path}>{name}</bdi>;
  if (by !== "org" && by !== "project") return <PathLink path={path} name={name} />;
  return (
    <Link to={usageOf(path)} search={{ ...search, by: undefined }}>
      <bdi title={path}>{name}</bdi>
    </Link>
  );
}
