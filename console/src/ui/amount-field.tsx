import { useState } from "react";
import type { Kind } from "../calls/use-kinds.ts";
import { amountTexts } from "../texts/amount-texts.ts";
import { unitField } from "./amount-in.ts";
import { SelectField, TextField } from "./text-field.tsx";

interface AmountFieldProps {
  /** The name of the field in the API, such as `limits["ram"]`. */
  readonly name: string;
  /** The label, and the unit of the amount; one in bytes is typed with a prefix. */
  readonly kind: Kind;
  readonly hint?: string | undefined;
  readonly required?: boolean;
  readonly value?: number | undefined;
  /** An amount that is usual. If there is no value, its prefix is the first choice. */
  readonly usual?: number | undefined;
}

const powers = amountTexts.units.map((label, power) => ({ value: String(power), label }));

/** The greatest power of 1024 that is not above an amount; GiB where there is none. */
const powerOf = (amount: number | undefined): number =>
  amount === undefined || amount < 1 ? 3 : Math.min(Math.floor(Math.log2(amount) / 10), powers.length - 1);

/** What somebody has typed. */
interface Typed {
  readonly text: string;
  /** The prefix that was shown beside it; that of base units while the unit was not known. */
  readonly power: number;
}

/** A field for an amount of something. What was typed before the unit was known stays, and means the same. */
export function AmountField({ name, kind, hint, required = false, value, usual }: AmountFieldProps) {
  const [typed, setTyped] = useState<Typed>();
  const [chosen, setChosen] = useState<string>();
  const isBytes = kind.unit === "byte";
  const power = powerOf(value ?? usual);
  const present = value === undefined ? "" : String(isBytes ? value / 1024 ** power : value);
  const notes = [isBytes ? "" : kind.unit, required ? amountTexts.required : ""].filter(Boolean).join(", ");
  const label = (
    <>
      <bdi>{kind.name}</bdi>
      {notes === "" ? "" : ` (${notes})`}
    </>
  );
  const unit = (
    <>
      {amountTexts.unit}
      <span className="unseen">
        {" "}
        {amountTexts.unitOf} <bdi>{kind.name}</bdi>
      </span>
    </>
  );
  return (
    <div className={isBytes ? "amount" : undefined}>
      <TextField
        name={name}
        label={label}
        hint={hint}
        inputMode="decimal"
        value={typed?.text ?? present}
        onValueChange={(text) => setTyped({ text, power: isBytes ? power : 0 })}
      />
      {isBytes ? (
        <SelectField
          name={unitField(name)}
          label={unit}
          choices={powers}
          value={chosen ?? String(typed?.power ?? power)}
          onValueChange={setChosen}
        />
      ) : null}
    </div>
  );
}
