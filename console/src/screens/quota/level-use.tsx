import type { Kind } from "../../calls/use-kinds.ts";
import { quotaTexts } from "../../texts/quota-texts.ts";
import { amountOf, writeAmount } from "../../ui/amount.ts";
import { UseMeter } from "../../ui/use-meter.tsx";
import { type Levels, leftOf, type QuotaLevel } from "./use-levels.ts";

interface OfKind {
  readonly kind: string;
  readonly named: Kind;
}

/** What is used of a kind at a level. */
export function LevelUse({ level, kind, named }: OfKind & { readonly level: QuotaLevel }) {
  const { data } = level.quota;
  if (data === undefined) return null;
  const [used, reserved, limit] = [
    amountOf(data.usage, kind) ?? 0,
    amountOf(data.reserved, kind) ?? 0,
    amountOf(data.limits, kind),
  ];
  const isUnused = limit === undefined && used === 0 && reserved === 0;
  return (
    <>
      {isUnused ? null : (
        <UseMeter
          use={{ ...named, kind, used, reserved, limit }}
          meterLabel={`${named.name}, ${quotaTexts.levels[level.kind]}`}
        />
      )}
      {limit === undefined ? <span className="quiet-text">{quotaTexts.noLimit}</span> : null}
    </>
  );
}

/** What could be used of a kind in addition, and which limit that comes from. */
export function LeftAmount({ levels, kind, named }: OfKind & { readonly levels: Levels }) {
  const left = leftOf(levels, kind);
  if (left === undefined) return <span className="quiet-text">{quotaTexts.noLimitAnywhere}</span>;
  return (
    <div className="left">
      {writeAmount(Math.max(left.amount, 0), named.unit)}{" "}
      <span className="quiet-text">{quotaTexts.boundBy(quotaTexts.levels[left.level.kind])}</span>
    </div>
  );
}

/** Says which levels the person does not see. */
export function HiddenLevels({ levels: { above } }: { readonly levels: Levels }) {
  const hidden = above.filter((level) => level.hidden);
  if (hidden.length === 0) return null;
  return <p className="hint">{quotaTexts.hidden(hidden.map(({ kind }) => quotaTexts.levels[kind]).join(", "))}</p>;
}
