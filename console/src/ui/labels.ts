import { invalidField } from "../calls/invalid-field.ts";
import { labelTexts } from "../texts/label-texts.ts";

/** `{"env": "dev"}` */
export type Labels = Readonly<Record<string, string>>;

/** Returns the labels of a resource; undefined for one of a kind that has none. */
export function labelsOf(resource: object): Labels | undefined {
  return "labels" in resource ? (resource.labels as Labels) : undefined;
}

/** Returns labels as people write them, sorted, one in a line: `env=dev`. */
export const writeLabels = (labels: Labels): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${needsQuotes(value) ? JSON.stringify(value) : value}`)
    .toSorted()
    .join("\n");

/** Whether a value would not be read as what it is. */
const needsQuotes = (value: string): boolean => value !== value.trim() || value.startsWith('"');

/**
 * Reads what `writeLabels` writes, with spaces around keys and values. A value may have `=`; keys have none.
 *
 * @throws an INVALID_ARGUMENT of the field `labels` that names the line. What keys and values may be, the service says.
 */
export function readLabels(text: string): Labels {
  const labels = new Map<string, string>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const end = line.indexOf("=");
    if (end === -1) throw invalidField("labels", labelTexts.noValue(index + 1));
    const key = line.slice(0, end).trim();
    if (labels.has(key)) throw invalidField("labels", labelTexts.again(index + 1, key));
    labels.set(key, readValue(line.slice(end + 1).trim()));
  }
  return Object.fromEntries(labels);
}

/** Reads a value, with or without the quotes of JSON. */
function readValue(written: string): string {
  if (!written.startsWith('"')) return written;
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === "string" ? value : written;
  } catch {
    return written;
  }
}
