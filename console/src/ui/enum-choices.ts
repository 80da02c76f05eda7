import { type Choice, valueOf } from "./text-field.tsx";

/** Returns what can be chosen among the values of an enum of the API, by their names. */
export const choicesOf = (words: Readonly<Record<string, string>>): readonly Choice[] =>
  Object.entries(words).map(([value, label]) => ({ value, label }));

/** Returns the value of an enum whose name was chosen in a field of a form; 0, which stands for none, if there is no such field. */
export const chosenIn = <Value>(form: FormData, field: string, values: Readonly<Record<string, Value>>): Value | 0 =>
  values[valueOf(form, field)] ?? 0;
