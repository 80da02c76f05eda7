// Flags, as `node:util` parses them: those of all commands, and those that the fields of a method become.
import { parseArgs } from "node:util";
import type { Field } from "../contract/contract.ts";
import { isSwitch } from "../contract/method-fields.ts";
import { flagOf, kebab } from "../contract/names.ts";
import { CommandError } from "../command-error.ts";
import { didYouMean, nearest } from "./nearest.ts";
import type { DayEdge, Direction } from "./times.ts";

export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** What stands for its value in help; undefined for a flag that takes none. */
  readonly value?: string;
  readonly help: string;
}

/** The flags of every command. */
export const globalFlags: readonly Flag[] = [
  { name: "org", value: "ORG", help: "What paths without a leading slash are below" },
  { name: "project", value: "PROJECT", help: "The same, with a project of the org" },
  {
    name: "output",
    short: "o",
    value: "FORMAT",
    help: "table, json, yaml, name or csv; json unless it goes to a terminal",
  },
  { name: "profile", value: "NAME", help: "As whom to call; see tenantry config" },
  { name: "server", value: "URL", help: "The service; TENANTRY_URL is the same" },
  { name: "plain-http", help: "Allow http:// to a machine other than this one" },
  { name: "yes", short: "y", help: "Do not ask before something is removed" },
  { name: "help", short: "h", help: "Explain a command" },
];

/** The flags of a command that sends fields. */
export const fileFlag: Flag = {
  name: "file",
  short: "f",
  value: "FILE",
  help: "Fields as YAML or JSON; - for standard input",
};
export const clearFlag: Flag = { name: "clear", value: "FIELD", help: "Empty a field" };
export const noWaitFlag: Flag = { name: "no-wait", help: "Do not wait for the end of an operation" };
export const limitFlag: Flag = { name: "limit", value: "NUMBER", help: "Stop after so many" };
export const columnsFlag: Flag = {
  name: "columns",
  value: "FIELDS",
  help: "Which fields to show, separated by commas",
};

export interface ParsedArguments {
  /** What is no flag, after the command. */
  readonly positionals: readonly string[];
  /** All values of each flag, in their order; a flag without a value has `true` or `false`. */
  readonly values: ReadonlyMap<string, readonly (string | boolean)[]>;
}

export function flagOfField(field: Field): Flag {
  const help = field.type === "time" ? `${field.help}. ${helpOfTimes(field)}` : withElements(field.help);
  if (isSwitch(field)) return { name: flagOf(field), help };
  return { name: flagOf(field), value: valueOf(field), help };
}

function helpOfTimes(field: Field): string {
  const day = `A day is its ${dayEdgeOf(field)}, in UTC`;
  return directionOf(field) === "ago" ? `${day}; 2d is two days ago` : day;
}

/** Returns what a day means as the value of a field: what ends on a day is there until the day is over. */
export function dayEdgeOf({ name }: Field): DayEdge {
  return /(^|_)(expire|end|to)_time$/.test(name) ? "end" : "beginning";
}

/** Returns what `90d` means as the value of a field: what begins and ends a period that is asked about is in the past. */
export function directionOf({ name }: Field): Direction {
  return /^(from|to)_time$/.test(name) ? "ago" : "from now";
}

function valueOf({ type, shape }: Field): string {
  if (shape === "map") return "KEY=VALUE";
  if (typeof type !== "string") return type.length <= 4 ? type.join("|") : "VALUE";
  const names: Partial<Record<string, string>> = {
    integer: "NUMBER",
    number: "NUMBER",
    time: "TIME",
    duration: "DURATION",
    json: "JSON",
  };
  return names[type] ?? "TEXT";
}

/**
 * Parses what follows a command.
 *
 * @param flags those that it takes. Of two with the same name, one may take a value only if the other does.
 * @throws CommandError for a flag that it does not take, with the nearest one.
 */
export function parseArguments(words: readonly string[], flags: readonly Flag[], command: string): ParsedArguments {
  const options = Object.fromEntries(
    flags.map(({ name, short, value }) => [
      name,
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        multiple: true,
        ...(short && { short }),
      },
    ]),
  );
  try {
    const { positionals, values } = parseArgs({
      args: [...words],
      options,
      allowPositionals: true,
      allowNegative: true,
    });
    const given = Object.entries(values).map(
      ([name, value]) => [name, [value].flat() as (string | boolean)[]] as const,
    );
    return { positionals, values: new Map(given.map(([name, value]) => declared(name, value, options))) };
  } catch (error) {
    throw misused(error, flags, command);
  }
}

/** `--no-wait` is parsed as a `wait` that is false, although it is a flag of its own. */
function declared(
  name: string,
  values: readonly (string | boolean)[],
  options: object,
): readonly [name: string, values: readonly (string | boolean)[]] {
  const isOwn = !Object.hasOwn(options, name) && Object.hasOwn(options, `no-${name}`);
  return isOwn ? [`no-${name}`, values.map((value) => value === false)] : [name, values];
}

function misused(error: unknown, flags: readonly Flag[], command: string): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const next = `tenantry ${command} --help`;
  const [, flag = ""] = /'(--?[^' ]*)/.exec(error.message) ?? [];
  const known = flags.map(({ name }) => `--${name}`);
  if (error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    const [, word = flag] = /Unknown option '([^']+)'/.exec(error.message) ?? [];
    return new CommandError(`${command} has no flag ${word}${didYouMean(word, known)}`, { next: next, cause: error });
  }
  const [, long = flag] = /(--[\w-]+)/.exec(error.message) ?? [];
  const found = flags.find(({ name }) => `--${name}` === (nearest(long, known) ?? long));
  const message =
    found?.value === undefined
      ? `${long} takes no value`
      : `${long} needs a value: ${long} ${found.value}, or ${long}=${found.value} for one that begins with a dash`;
  return new CommandError(message, { next, cause: error });
}

/** Returns the value of a flag that may be given once; undefined without it. */
export function single({ values }: ParsedArguments, name: string): string | undefined {
  const given = values.get(name) ?? [];
  if (given.length > 1) throw new CommandError(`--${name} is given twice`);
  return given[0] === undefined ? undefined : String(given[0]);
}

/** Returns the value of `--limit`; undefined without it. @throws CommandError for what is no number of items. */
export function limitOf(parsed: ParsedArguments): number | undefined {
  const text = single(parsed, "limit");
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CommandError(`--limit must be a whole number from 1 on, got ${JSON.stringify(text)}`);
}

export function isSet({ values }: ParsedArguments, name: string): boolean {
  return values.get(name)?.at(-1) === true;
}

/** Returns the flags without those that stand for the same. */
export function distinct(flags: readonly Flag[]): readonly Flag[] {
  const byName = new Map<string, Flag>();
  for (const flag of flags) {
    const other = byName.get(flag.name);
    if (other === undefined || (other.value === undefined && flag.value !== undefined)) byName.set(flag.name, flag);
  }
  return [...byName.values()];
}

/** Returns the plural flag of a list or map, `labels`, which is accepted for `--label` as well; undefined for other fields. */
export function aliasOf(field: Field): string | undefined {
  const alias = kebab(field.name);
  return field.shape === undefined || alias === flagOf(field) ? undefined : alias;
}

/** A list is a flag for each of its elements: an example of one has the elements alone. */
const withElements = (help: string): string =>
  help.replaceAll(/`\[("[^`]*")\]`/g, (_, elements: string) => elements.replaceAll(/"([^"]*)"/g, "`$1`"));
