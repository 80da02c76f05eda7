// Writes one resource for people: a line for each field that has a value, with the ages of times.
import { formatAge } from "../arguments/times.ts";
import type { Field } from "../contract/contract.ts";
import type { Item } from "./columns.ts";
import { escapeLines, escapeText } from "./escape-text.ts";
import { pad, widthOf } from "./text-width.ts";
import { writeYaml } from "./write-yaml.ts";

/** What helps programs only. */
const left = new Set(["etag"]);

/** @param fields of its message, in whose order they are written; those that are not known come last. */
export function describeItem(item: Item, fields: readonly Field[], now: number): string {
  const known = new Map(fields.map((field) => [field.name, field]));
  const names = [...known.keys(), ...Object.keys(item).filter((name) => !known.has(name))];
  const entries = names
    .filter((name) => !left.has(name) && isGiven(item[name]))
    .map((name) => [name, item[name]] as const);
  const width = Math.max(0, ...entries.map(([name]) => widthOf(name))) + 2;
  return entries
    .map(([name, value]) => `${pad(`${escapeText(name)}:`, width)}${formatValue(value, known.get(name), now)}\n`)
    .join("");
}

function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === false) return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

function formatValue(value: unknown, field: Field | undefined, now: number): string {
  if (typeof value === "string") {
    const isTime = field?.type === "time";
    return isTime
      ? `${escapeText(value)} (${formatRelative(value, now)})`
      : escapeLines(value).replaceAll("\n", "\n  ");
  }
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value) && value.every((each) => typeof each !== "object"))
    return value.map((each) => escapeText(String(each))).join(", ");
  const isFlat = !Array.isArray(value) && Object.values(value).every((each) => typeof each !== "object");
  if (isFlat) {
    const pairs = Object.entries(value).map(([key, each]) => `${escapeText(key)}=${escapeText(String(each))}`);
    return pairs.join(", ");
  }
  return `\n  ${writeYaml(value).trimEnd().replaceAll("\n", "\n  ")}`;
}

function formatRelative(time: string, now: number): string {
  const age = formatAge(time, now);
  return age.startsWith("in ") ? age : `${age} ago`;
}
