import { Meter } from "@base-ui/react/meter";
import type { ReactNode } from "react";
import type { Kind } from "../calls/use-kinds.ts";
import { texts } from "../texts/texts.ts";
import { writeAmount, writeSum } from "./amount.ts";

/** From this share of a limit on, its meter warns. */
const nearly = 0.9;

export interface Use extends Kind {
  readonly kind: string;
  readonly used: number;
  readonly reserved: number;
  readonly limit: number | undefined;
}

interface UseMeterProps {
  readonly use: Use;
  /** What is beside the amount; without it, a screen reader has the name from the meter alone. */
  readonly label?: ReactNode;
  /** Tells meters of the same kind apart for screen readers. */
  readonly meterLabel?: string | undefined;
}

/** How much of a limit is used. */
export function UseMeter({ use: { name, unit, used, reserved, limit }, label, meterLabel = name }: UseMeterProps) {
  const amount = reserved === 0 ? writeAmount(used, unit) : texts.overview.reserved(writeSum(used, reserved, unit));
  const taken = used + reserved;
  const max = limit === undefined || limit === 0 ? 1 : limit;
  return (
    <div className={limit !== undefined && taken >= max * nearly ? "meter nearly" : "meter"}>
      {label === undefined ? null : <span className="meter-label">{label}</span>}
      <span className="meter-value">
        {limit === undefined ? amount : texts.overview.of(amount, writeAmount(limit, unit))}
      </span>
      {limit === undefined ? null : (
        <Meter.Root
          className="meter-root"
          aria-label={meterLabel}
          value={limit === 0 ? 1 : Math.min(taken, limit)}
          max={max}
        >
          <Meter.Track className="meter-track">
            <Meter.Indicator className="meter-bar" />
          </Meter.Track>
        </Meter.Root>
      )}
    </div>
  );
}
