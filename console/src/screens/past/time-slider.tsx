import { useState } from "react";
import { pastTexts } from "../../texts/moment-texts.ts";

interface TimeSliderProps {
  /** The earliest moment, in milliseconds. */
  readonly oldest: number;
  /** What is shown; undefined for now. */
  readonly at: Date | undefined;
  /** The revision that is shown, whose time is not known. */
  readonly other: string | undefined;
  readonly onChoose: (at: Date | undefined) => void;
}

const minuteMs = 60_000;
const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** Leads through the time from the beginning of the log to now. The service is asked when it is let go. */
export function TimeSlider({ oldest, at, other, onChoose }: TimeSliderProps) {
  const [now] = useState(() => Date.now());
  const [dragged, setDragged] = useState<number>();
  const value = dragged ?? Math.min(at?.getTime() ?? now, now);
  // A minute, or less in an org that is younger than some hours: the keys move it by a step.
  const step = Math.max(1, Math.min(minuteMs, Math.floor((now - oldest) / 200)));
  const isNow = value > now - step;
  const letGo = (): void => {
    if (dragged === undefined) return;
    setDragged(undefined);
    onChoose(isNow ? undefined : new Date(dragged));
  };
  const text =
    other !== undefined && dragged === undefined ? pastTexts.revision : isNow ? pastTexts.now : format.format(value);
  return (
    <div className="slider">
      <label className="label" htmlFor="past-moment">
        {pastTexts.slider}
      </label>
      <input
        id="past-moment"
        type="range"
        min={oldest}
        max={now}
        step={step}
        value={value}
        aria-valuetext={text}
        onChange={(event) => setDragged(Number(event.target.value))}
        onPointerUp={letGo}
        onKeyUp={letGo}
        onBlur={letGo}
      />
      <output htmlFor="past-moment">{text}</output>
    </div>
  );
}
