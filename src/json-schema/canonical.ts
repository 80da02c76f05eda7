import type { JsonValue } from "@bufbuild/protobuf";
import { type Work, spend } from "./work.ts";

/** A value takes so long to write, beside what a step takes. */
const stepsOfValue = 8;

/** So many characters of a text are one step. They are copied, and not looked at. */
const charactersOfStep = 16;

/** Returns a text that equal values have in common, and no others. Takes as many steps as the value is long. */
export function canonicalOf(value: JsonValue, work: Work): string {
  spend(work, typeof value === "string" ? 1 + value.length / charactersOfStep : stepsOfValue);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    let text = "[";
    for (const item of value) text += `${canonicalOf(item, work)},`;
    return `${text}]`;
  }
  let text = "{";
  for (const key of Object.keys(value).toSorted()) {
    text += `${canonicalOf(key, work)}:${canonicalOf(value[key] as JsonValue, work)},`;
  }
  return `${text}}`;
}
