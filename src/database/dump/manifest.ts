/*
 * A dump is text, in UTF-8:
 *
 *   {"format":"tenantry dump 1", ...}        what follows, in one line: a Manifest
 *   {"table":"customers","columns":[...]}    for each table: a TableHead,
 *   ...                                      its rows as PostgreSQL's COPY writes them, in the order of a key,
 *   \.                                       the end of the rows,
 *   {"rows":3,"sha256":"..."}                and a TableEnd, whose hash is that of the lines of the rows
 *   {"tables":41,"sha256":"..."}             a DumpEnd, whose hash is that of all before
 *
 * No line of COPY is a backslash and a dot: it escapes backslashes.
 */
import { DumpError } from "./dump-error.ts";

const formatName = "tenantry dump";
const formatVersion = 1;
export const dumpFormat = `${formatName} ${formatVersion}`;

export interface Manifest {
  readonly format: string;
  /** The version of Tenantry that has made it. */
  readonly version: string;
  /** When, by the clock of the database, in RFC 3339: it has what was committed before. */
  readonly time: string;
  /** The version of PostgreSQL. */
  readonly postgresql: string;
  /** The migrations of the database. */
  readonly migrations: readonly string[];
  /** The months of which the change log has partitions: `2026_11`. */
  readonly months: readonly string[];
  /** The ids of the secret keys with which something in it is encrypted. */
  readonly secretKeys: readonly string[];
  /** The file with the secret keys. Only in dumps that are encrypted. */
  readonly secretKeysFile?: string;
}

export interface TableHead {
  readonly table: string;
  readonly columns: readonly string[];
  /** The columns of its primary key; empty for a table without one. Rows are in their order, or in that of all columns as text. */
  readonly key: readonly string[];
}

/** `sha256` is in hexadecimal digits. */
export interface TableEnd {
  readonly rows: number;
  readonly sha256: string;
}

export interface DumpEnd {
  readonly tables: number;
  readonly sha256: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** @throws DumpError NO_DUMP or NEWER. */
export function parseManifest(line: string): Manifest {
  const fields = parseObject(line, "NO_DUMP");
  const { format } = fields;
  if (typeof format !== "string" || !format.startsWith(`${formatName} `)) throw noDump();
  if (format !== dumpFormat) {
    const version = typeof fields["version"] === "string" ? fields["version"] : "unknown";
    throw new DumpError(
      "NEWER",
      `a version of Tenantry that is newer than this one (${version}) has made the dump: restore it with that one`,
    );
  }
  const text = (name: string): string => {
    const value = fields[name];
    if (typeof value !== "string") throw damaged(`its first line has no ${name}`);
    return value;
  };
  return {
    format,
    version: text("version"),
    time: text("time"),
    postgresql: text("postgresql"),
    migrations: readTexts(fields, "migrations"),
    months: readTexts(fields, "months"),
    secretKeys: readTexts(fields, "secretKeys"),
    ...(fields["secretKeysFile"] !== undefined && { secretKeysFile: text("secretKeysFile") }),
  };
}

export function parseTableHeadOrEnd(line: string): TableHead | DumpEnd {
  const fields = parseObject(line);
  const { table } = fields;
  if (typeof table === "string") return { table, columns: readTexts(fields, "columns"), key: readTexts(fields, "key") };
  return { tables: readCount(fields, "tables"), sha256: readHash(fields) };
}

export function parseTableEnd(line: string): TableEnd {
  const fields = parseObject(line);
  return { rows: readCount(fields, "rows"), sha256: readHash(fields) };
}

export function noDump(): DumpError {
  return new DumpError("NO_DUMP", "the file is not a dump that tenantry dump has made");
}

export function damaged(why: string, cause?: unknown): DumpError {
  return new DumpError("DAMAGED", `the dump is damaged or cut off: ${why}`, { cause });
}

function parseObject(line: string, otherwise: "NO_DUMP" | "DAMAGED" = "DAMAGED"): Fields {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value as Fields;
  } catch {
    // As what is no object.
  }
  throw otherwise === "NO_DUMP" ? noDump() : damaged("a line that should describe what follows does not");
}

function readTexts(fields: Fields, name: string): readonly string[] {
  const value = fields[name];
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  throw damaged(`a line of it has no ${name}`);
}

function readCount(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw damaged(`a line of it has no ${name}`);
}

function readHash(fields: Fields): string {
  const { sha256 } = fields;
  if (typeof sha256 === "string") return sha256;
  throw damaged("a line of it has no hash");
}
