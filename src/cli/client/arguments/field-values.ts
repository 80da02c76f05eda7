// Reads the values of fields from flags.
import { parse } from "yaml";
import { CommandError } from "../command-error.ts";
import type { Contract, Field } from "../contract/contract.ts";
import { isSwitch } from "../contract/method-fields.ts";
import { flagOf } from "../contract/names.ts";
import { recordOf } from "../http/service-error.ts";
import { type PathContext, prefixesOf, splitPath } from "../contract/find-method.ts";
import { didYouMean, fold } from "./nearest.ts";
import { type ParsedArguments, aliasOf, dayEdgeOf, directionOf } from "./flags.ts";
import { parseDuration, parseTime } from "./times.ts";

export interface ReadingOptions {
  readonly contract: Contract;
  /** What values such as `members/alice` are relative to. */
  readonly context: PathContext;
  /** The clock, in milliseconds. */
  readonly now: number;
}

export interface FieldValues {
  /** The values by the names of their fields. */
  readonly values: Readonly<Record<string, unknown>>;
  /** What an update changes: the names of fields, and keys of maps as `labels.env`. */
  readonly mask: readonly string[];
}

/**
 * @param written the fields of a file, to whose maps flags add.
 * @throws CommandError that names the flag, and what it accepts.
 */
export function readFieldValues(
  fields: readonly Field[],
  parsed: ParsedArguments,
  options: ReadingOptions,
  written: Readonly<Record<string, unknown>> = {},
): FieldValues {
  const values: Record<string, unknown> = {};
  const mask: string[] = [];
  for (const field of fields) {
    const [flag, alias] = [flagOf(field), aliasOf(field)];
    const given = [
      ...(parsed.values.get(flag) ?? []),
      ...(alias === undefined ? [] : (parsed.values.get(alias) ?? [])),
    ];
    if (given.length === 0) continue;
    if (field.shape === "map") {
      const entries = given.map((text) => readEntry(field, String(text), options));
      const all = { ...recordOf(written[field.name]), ...Object.fromEntries(entries) };
      values[field.name] = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      mask.push(...entries.map(([key]) => `${field.name}.${/^[\w-]+$/.test(key) ? key : `\`${key}\``}`));
    } else {
      if (field.shape === undefined && given.length > 1 && !isSwitch(field)) {
        throw new CommandError(`--${flag} is given twice`);
      }
      const read = given.map((value) => (typeof value === "boolean" ? value : readValue(field, value, options)));
      if (read.at(-1) === undefined) continue;
      values[field.name] = field.shape === "list" ? read.flat() : read.at(-1);
      mask.push(field.name);
    }
  }
  return { values, mask };
}

/** Reads `key=value`; `key-` means that the entry is removed, with undefined as its value. */
function readEntry(field: Field, text: string, options: ReadingOptions): readonly [key: string, value: unknown] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), readValue(field, text.slice(at + 1), options)];
  if (at === -1 && /.-$/.test(text)) return [text.slice(0, -1), undefined];
  throw new CommandError(`--${flagOf(field)} must be key=value, or key- to remove one, got ${JSON.stringify(text)}`);
}

function readValue(field: Field, text: string, options: ReadingOptions): unknown {
  const flag = `--${flagOf(field)}`;
  const { type } = field;
  if (typeof type !== "string") {
    const value = type.find((each) => fold(each) === fold(text));
    if (value !== undefined) return value;
    throw new CommandError(
      `${flag} must be one of ${type.join(", ")}, got ${JSON.stringify(text)}${didYouMean(text, type)}`,
    );
  }
  switch (type) {
    case "string":
      return /_paths?$/.test(field.name) ? absolutePath(withCollection(field.name, text), options) : text;
    case "boolean":
      if (/^(true|false)$/.test(text)) return text === "true";
      throw new CommandError(`${flag} must be true or false, got ${JSON.stringify(text)}`);
    case "integer":
    case "number": {
      const value = Number(text);
      const isGood = text.trim() !== "" && (type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value));
      if (isGood) return value;
      throw new CommandError(
        `${flag} must be a ${type === "integer" ? "whole " : ""}number, got ${JSON.stringify(text)}`,
      );
    }
    case "time": {
      const time = parseTime(text, options.now, flag, dayEdgeOf(field), directionOf(field));
      // The day of today lasts until now, which the service knows best.
      const isToday = directionOf(field) === "ago" && /^[\d-]+$/.test(text) && Date.parse(text) <= options.now;
      return isToday && Date.parse(time) > options.now ? undefined : time;
    }
    case "duration":
      return parseDuration(text, flag);
    case "json":
      return parseJson(text, flag);
  }
}

/** What a name alone is, as the value of a field. */
const collections: Readonly<Record<string, string>> = {
  group_path: "groups",
  member_path: "members",
  role_path: "roles",
  subject_path: "members",
};

/** Returns the path that a name alone stands for: `roles/viewer` for `viewer` as a `role_path`. */
export function withCollection(field: string, text: string): string {
  const collection = collections[field];
  return collection === undefined || text === "" || text.includes("/") ? text : `${collection}/${text}`;
}

function parseJson(text: string, flag: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0 }) as unknown;
  } catch (error) {
    throw new CommandError(`${flag} must be JSON or YAML: ${firstLine(error)}`, { cause: error });
  }
}

/**
 * Returns the path that a value means, as `findMethod` does for that of a command: `members/alice` and `roles/deployer` are in the org of
 * the context. Predefined roles are the ones that most values name, so `roles/viewer` is the one of the platform.
 */
export function absolutePath(
  text: string,
  { contract, context }: Pick<ReadingOptions, "contract" | "context">,
): string {
  if (text === "" || text.startsWith("/")) return text;
  const given = splitPath(text);
  const [collection = "", name = ""] = given;
  if (given.length === 2 && collection === "roles" && contract.predefinedRoles.includes(name)) return `/${text}`;
  const found = prefixesOf(text, context)
    .map((prefix) => canonicalPath(contract, [...prefix, ...given]))
    .find((path) => path !== undefined);
  return `/${(found ?? given).join("/")}`;
}

/** Returns a path with its collections as the API writes them; undefined if nothing has such a path. */
function canonicalPath({ methods }: Contract, segments: readonly string[]): readonly string[] | undefined {
  for (const { path } of methods) {
    const pattern = path.split("/");
    const isSame = (each: string, index: number): boolean => each === "*" || fold(each) === fold(segments[index] ?? "");
    if (pattern.length !== segments.length || !pattern.every(isSame)) continue;
    return segments.map((segment, index) => (pattern[index] === "*" ? segment : (pattern[index] ?? segment)));
  }
  return undefined;
}

export function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n", 1)[0] ?? "";
}
