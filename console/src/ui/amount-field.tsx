import { quotaTexts } from "../texts/quota-texts.ts";
import { SelectField, TextField, valueOf } from "./text-field.tsx";

interface AmountFieldProps {
  /** The name of the field in the API, such as `limits["ram"]`. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  /** The unit of the amount; one in bytes is typed with a prefix. */
  readonly unit: string;
  readonly value?: number | undefined;
}

const powers = quotaTexts.units.map((label, power) => ({ value: String(power), label }));

const unitField = (name: string): string => `unit of ${name}`;

/** The greatest power of 1024 that is not above an amount; GiB where there is none yet. */
const powerOf = (value: number | undefined): number =>
  value === undefined || value < 1 ? 3 : Math.min(Math.floor(Math.log2(value) / 10), powers.length - 1);

/** A field for an amount of something. */
export function AmountField({ name, label, hint, unit, value }: AmountFieldProps) {
  const isBytes = unit === "byte";
  const power = powerOf(value);
  const typed = value === undefined ? "" : String(isBytes ? value / 1024 ** power : value);
  const text = (
    <TextField
      name={name}
      label={isBytes || unit === "" ? label : `${label} (${unit})`}
      hint={hint}
      inputMode="decimal"
      defaultValue={typed}
    />
  );
  if (!isBytes) return text;
  return (
    <div className="amount">
      {text}
      <SelectField name={unitField(name)} label={quotaTexts.unit} choices={powers} defaultValue={String(power)} />
    </div>
  );
}

/** Returns the amount in an `AmountField`, in its base unit; undefined if the field is empty, and NaN if it has no number. */
export function amountIn(form: FormData, name: string): number | undefined {
  const typed = valueOf(form, name);
  return typed === "" ? undefined : Number(typed) * 1024 ** Number(valueOf(form, unitField(name)) || 0);
}
