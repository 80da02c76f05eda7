import type { KeyboardEvent, PointerEvent } from "react";
import type { Plot } from "./plot.ts";

interface ChartReaderProps {
  readonly plot: Plot;
  /** How many steps there are. */
  readonly count: number;
  readonly index: number;
  readonly label: string;
  /** What the chart shows at the step. */
  readonly text: string;
  readonly onRead: (index: number | undefined) => void;
}

/** How many steps a page is. */
const page = 10;

/** Lies over a chart, and moves through its steps: with a pointer, and as a slider with the keyboard. */
export function ChartReader({ plot, count, index, label, text, onRead }: ChartReaderProps) {
  const moves: Readonly<Record<string, number>> = {
    ArrowLeft: index - 1,
    ArrowDown: index - 1,
    ArrowRight: index + 1,
    ArrowUp: index + 1,
    PageDown: index - page,
    PageUp: index + page,
    Home: 0,
    End: count - 1,
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Escape") onRead(undefined);
    const to = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (to === undefined) return;
    event.preventDefault();
    onRead(Math.max(0, Math.min(count - 1, to)));
  };
  const point = ({ clientX, currentTarget }: PointerEvent): void =>
    onRead(plot.stepAt(clientX - currentTarget.getBoundingClientRect().left));
  return (
    <div
      className="chart-reader"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={1}
      aria-valuemax={count}
      aria-valuenow={index + 1}
      aria-valuetext={text}
      onKeyDown={press}
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={() => onRead(undefined)}
    />
  );
}
