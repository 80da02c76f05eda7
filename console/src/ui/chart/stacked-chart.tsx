// A chart of amounts over time, in SVG, without a library: what is drawn has classes and attributes only, as the policy wants it.
import { type ReactNode, useId, useRef, useState } from "react";
import { ChartReader } from "./chart-reader.tsx";
import { type Plot, type StackedStep, createPlot, stack, toAreaPath, toLinePath } from "./plot.ts";
import { timeTicks, valueTicks } from "./ticks.ts";
import { useWidth } from "./use-width.ts";

export interface ChartLine {
  readonly key: string;
  readonly name: ReactNode;
  /** The same for screen readers. */
  readonly text: string;
  /** One of the colours of the theme, such as `c1`. */
  readonly color: string;
  /** One for each step. */
  readonly values: readonly number[];
}

interface StackedChartProps {
  readonly title: string;
  /** What the chart shows, for people who do not see it. */
  readonly description: string;
  /** What the numbers of the axis are in. */
  readonly unit: string;
  readonly steps: readonly StackedStep[];
  readonly lines: readonly ChartLine[];
  readonly write: (value: number) => string;
  readonly writeStep: (step: StackedStep) => string;
  readonly texts: ChartTexts;
}

interface ChartTexts {
  readonly total: string;
  /** What moves through the chart. */
  readonly moment: string;
}

const height = 280;
const axis = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 6 });
const writeTick = (tick: number): string => axis.format(tick);

/** Draws amounts on top of each other, each step as long as it is, so that the areas are the integrals. What it shows at a step can be read. */
export function StackedChart({ steps, lines, write, writeStep, texts, ...labels }: StackedChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [chosen, setChosen] = useState<number>();
  const last = Math.max(0, steps.length - 1);
  // The last step is read until somebody chooses another.
  const index = Math.min(chosen ?? last, last);
  const levels = stack(lines.map(({ values }) => values));
  const totals = levels.at(-1)?.upper ?? [];
  const ticks = valueTicks(Math.max(0, ...totals), 5);
  const plot = createPlot({ width, height, steps, greatest: ticks.at(-1) ?? 1, labels: ticks.map(writeTick) });
  const readings = lines.map(({ key, name, text, color, values }) => {
    const value = write(values[index] ?? 0);
    return { key, name, color, value, text: `${text}: ${value}` };
  });
  const step = steps[index];
  const moment = step === undefined ? "" : writeStep(step);
  const total = write(totals[index] ?? 0);
  const texted = lines.length > 1 ? [...readings.map(({ text }) => text), `${texts.total}: ${total}`] : [total];
  return (
    <div className="chart">
      <p className="chart-moment">
        <span>{moment}</span>
        <strong>
          {total} {labels.unit}
        </strong>
      </p>
      <div ref={frame} className="chart-frame">
        {width === 0 ? null : (
          <>
            <Drawing
              plot={plot}
              lines={lines}
              levels={levels}
              ticks={ticks}
              marked={chosen === undefined ? -1 : index}
              {...labels}
            />
            <ChartReader
              plot={plot}
              count={steps.length}
              index={index}
              label={texts.moment}
              text={`${moment}: ${texted.join(", ")}`}
              onRead={setChosen}
            />
          </>
        )}
      </div>
      {lines.length > 1 ? (
        <ul className="legend">
          {readings.map(({ key, name, color, value }) => (
            <li key={key}>
              <span className={`swatch ${color}`} />
              {name} <span className="legend-value">{value}</span>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

interface DrawingProps extends Pick<StackedChartProps, "lines" | "title" | "description" | "unit"> {
  readonly plot: Plot;
  readonly levels: ReturnType<typeof stack>;
  readonly ticks: readonly number[];
  /** The step at which somebody reads; -1 for none. */
  readonly marked: number;
}

function Drawing({ plot, lines, levels, ticks, marked, title, description, unit }: DrawingProps) {
  const [titleId, descriptionId] = [useId(), useId()];
  const { width, left, right, top, bottom } = plot;
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-labelledby={titleId}
      aria-describedby={descriptionId}
    >
      <title id={titleId}>{title}</title>
      <desc id={descriptionId}>{description}</desc>
      <g className="chart-axis">
        <text x={left} y={10}>
          {unit}
        </text>
        {ticks.map((tick) => (
          <g key={tick}>
            <line x1={left} x2={right} y1={plot.yOf(tick)} y2={plot.yOf(tick)} />
            <text x={left - 8} y={plot.yOf(tick)} dy="0.35em" textAnchor="end">
              {writeTick(tick)}
            </text>
          </g>
        ))}
        <TimeAxis plot={plot} />
      </g>
      {lines.map(({ key, color }, index) => {
        const level = levels[index];
        if (level === undefined) return null;
        return (
          <g key={key} className={color}>
            <path className="chart-area" d={toAreaPath(plot, level)} />
            <path className="chart-line" d={toLinePath(plot, level)} />
          </g>
        );
      })}
      <line className="chart-base" x1={left} x2={right} y1={bottom} y2={bottom} />
      {marked < 0 ? null : (
        <rect
          className="chart-mark"
          x={plot.leftOf(marked)}
          width={Math.max(1, plot.rightOf(marked) - plot.leftOf(marked))}
          y={top}
          height={bottom - top}
        />
      )}
    </svg>
  );
}

/** In pixels: what the label of a time takes with the space beside it. */
const labelWidth = 56;

function TimeAxis({ plot }: { readonly plot: Plot }) {
  const { left, right, bottom, start, end } = plot;
  const ticks = timeTicks(start, end, Math.max(2, Math.floor((right - left) / labelWidth)));
  return ticks.map(({ time, label }) => {
    const x = plot.xOf(time);
    return (
      <g key={time}>
        <line className="chart-tick" x1={x} x2={x} y1={bottom} y2={bottom + 16} />
        {x + labelWidth - 8 > right ? null : (
          <text x={x + 5} y={bottom + 16}>
            {label}
          </text>
        )}
      </g>
    );
  });
}
