import { invalidField } from "../calls/invalid-field.ts";
import { amountTexts } from "../texts/amount-texts.ts";
import { valueOf } from "./text-field.tsx";

/** The name of the field for the prefix of an amount in bytes, as a power of 1024, beside the field for the amount. */
export const unitField = (name: string): string => `unit of ${name}`;

/**
 * Returns the amount in an `AmountField`, in its base unit; undefined if the field is empty.
 *
 * @throws ConnectError at the field for what is no number.
 */
export function amountIn(form: FormData, name: string): number | undefined {
  const typed = valueOf(form, name);
  if (typed === "") return undefined;
  const amount = Number(typed);
  if (Number.isNaN(amount)) throw invalidField(name, amountTexts.noNumber(typed));
  return amount * 1024 ** Number(valueOf(form, unitField(name)) || 0);
}
