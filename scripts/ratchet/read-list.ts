import { parse } from "yaml";

/** A function that is longer than the rule accepts. It may be exactly as long as this. */
export interface ListedFunction {
  readonly lines: number;
  readonly reason: string;
}

/** What scripts/ratchet/list.yaml accepts, by file and name, as in "src/rpc/interceptors.ts createCallInterceptor". */
export interface RatchetList {
  readonly longFunctions: ReadonlyMap<string, ListedFunction>;
  readonly moduleState: ReadonlyMap<string, string>;
}

/** Reads the list. Throws an error that names the entry if one lacks its length or its reason. */
export function readList(text: string): RatchetList {
  const { longFunctions, moduleState, ...others } = entriesOf(parse(text), "the list");
  for (const name of Object.keys(others)) {
    throw new Error(`${name}: the list has longFunctions and moduleState only`);
  }
  return {
    longFunctions: new Map(
      Object.entries(entriesOf(longFunctions, "longFunctions")).map(([key, entry]) => [key, readFunction(key, entry)]),
    ),
    moduleState: new Map(
      Object.entries(entriesOf(moduleState, "moduleState")).map(([key, reason]) => [key, readReason(key, reason)]),
    ),
  };
}

function readFunction(key: string, entry: unknown): ListedFunction {
  const { lines, reason } = entriesOf(entry, key);
  if (typeof lines !== "number" || !Number.isSafeInteger(lines)) {
    throw new Error(`${key}: its lines must be a whole number`);
  }
  return { lines, reason: readReason(key, reason) };
}

function readReason(key: string, reason: unknown): string {
  if (typeof reason !== "string" || reason.trim() === "") throw new Error(`${key}: its reason must be a text`);
  return reason;
}

function entriesOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) throw new Error(`${name} must have entries`);
  return value as Readonly<Record<string, unknown>>;
}
