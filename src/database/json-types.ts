// V8 mistakes keys of JSON: once `{"f":0,"\\":0}` was parsed anywhere in the process, the second key of `{"f":0,"\"":0}` is read as a
// backslash (https://github.com/nodejs/node/issues/63785). Keys that have escapes are replaced in the text, and restored in the value.
// The transcoder, which is a package of its own, does the same for requests.
import pg from "pg";
import { parseTimestamp } from "./parse-timestamp.ts";

/** The types of columns: as those of pg, but with the right keys in JSON, and faster for times. */
export const columnTypes = new pg.TypeOverrides();
const { builtins } = pg.types;
columnTypes.setTypeParser(builtins.TIMESTAMPTZ, parseTimestamp);
columnTypes.setTypeParser(builtins.JSON, parseStoredJson);
columnTypes.setTypeParser(builtins.JSONB, parseStoredJson);

/** Begins each key that stands for another. Keys that begin with it are replaced themselves. */
const mark = "\ue000";

function parseStoredJson(text: string): unknown {
  if (!text.includes("\\")) return JSON.parse(text);
  const keys: string[] = [];
  const parts: string[] = [];
  let copied = 0;
  for (let start = text.indexOf('"'), end; start !== -1; start = text.indexOf('"', end + 1)) {
    end = endOfString(text, start);
    const quoted = text.slice(start, end + 1);
    if (!(quoted.includes("\\") || quoted.startsWith(mark, 1)) || !isKey(text, end)) continue;
    parts.push(text.slice(copied, start), `"${mark}${keys.push(JSON.parse(quoted) as string) - 1}"`);
    copied = end + 1;
  }
  if (keys.length === 0) return JSON.parse(text);
  parts.push(text.slice(copied));
  return restoreKeys(JSON.parse(parts.join("")), keys);
}

/** Returns the offset of the quote that ends the string at `start`. The text is valid. */
function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end;
}

/** Checks whether a colon follows the string that ends at `end`. */
function isKey(text: string, end: number): boolean {
  let next = end + 1;
  while (/\s/.test(text[next] ?? "")) next++;
  return text[next] === ":";
}

function restoreKeys(value: unknown, keys: readonly string[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => restoreKeys(item, keys));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key.startsWith(mark) ? (keys[Number(key.slice(mark.length))] ?? key) : key,
      restoreKeys(member, keys),
    ]),
  );
}
