import pg from "pg";
import { columnTypes } from "./json-types.ts";

/** Rows as one text each, from which all their values follow. */
export interface RowTexts {
  /** Returns the statement that reads the rows of a given one as texts, in the column `text`. */
  statementOf(text: string): string;
  /** Returns the row that pg would make of the values. */
  rowOf(text: string): object;
}

type Column = Pick<pg.FieldDef, "name" | "dataTypeID">;

const { BOOL, INT2, INT4, INT8, JSONB, TIMESTAMPTZ, UUID } = pg.types.builtins;
const textType: number = pg.types.builtins.TEXT;

/** The types whose texts are never empty and have no control characters. */
const delimited: ReadonlySet<number> = new Set([BOOL, INT2, INT4, INT8, JSONB, TIMESTAMPTZ, UUID]);

const delimiter = "\x1f";
/** PostgreSQL allows a hundred; each value may have a delimiter. */
const maxArguments = 50;

/**
 * Creates the texts of rows that have these columns. In a text come first the values of the types that end at a delimiter, then the
 * lengths of the others in bytes, then these: `4f..␟2026-11-26 10:00:00+00␟5␟3␟alicedev`. NULL is empty and has no length. The
 * database must have the encoding UTF8, or store the bytes of it.
 */
export function createRowTexts(columns: readonly Column[]): RowTexts {
  const ended = columns.filter(({ dataTypeID }) => delimited.has(dataTypeID));
  const free = columns.filter(({ dataTypeID }) => !delimited.has(dataTypeID));
  const called = ({ name }: Column): string => `page.${pg.escapeIdentifier(name)}`;
  // Casts to text are not what is sent for all types.
  const lengthOf = (column: Column): string =>
    column.dataTypeID === textType
      ? `octet_length(${called(column)})`
      : `case when ${called(column)} is not null then octet_length(concat(${called(column)})) end`;
  const parts = [...ended.map(called), ...free.map(lengthOf)];
  const expressions = [...parts.map((part) => `${part}, E'\\x1f'`), ...free.map(called)];
  const concatenated: string[] = [];
  for (let start = 0; start < expressions.length; start += maxArguments) {
    concatenated.push(`concat(${expressions.slice(start, start + maxArguments).join(", ")})`);
  }
  const selected = `select ${concatenated.join(" || ")} as text`;

  const parserOf = ({ name, dataTypeID }: Column) => {
    const parse = columnTypes.getTypeParser(dataTypeID, "text") as (text: string) => unknown;
    return { name, parse };
  };
  const endedParsers = ended.map(parserOf);
  const freeParsers = free.map(parserOf);
  const empty: Record<string, unknown> = {};
  for (const { name } of columns) empty[name] = null;

  return {
    statementOf: (text) => `${selected} from (${text}) as page`,
    rowOf(text) {
      const row = { ...empty };
      let at = 0;
      const next = (): string => {
        const end = text.indexOf(delimiter, at);
        const part = text.slice(at, end);
        at = end + 1;
        return part;
      };
      for (const { name, parse } of endedParsers) {
        const value = next();
        if (value !== "") row[name] = parse(value);
      }
      const lengths = freeParsers.map(next);
      const rest = sliceBytes(text.slice(at));
      let start = 0;
      for (const [index, { name, parse }] of freeParsers.entries()) {
        const length = lengths[index];
        if (length === undefined || length === "") continue;
        const end = start + Number(length);
        row[name] = parse(rest(start, end));
        start = end;
      }
      return row;
    },
  };
}

/** Returns a function that returns a part of a text by its position in bytes. */
function sliceBytes(text: string): (start: number, end: number) => string {
  const bytes = Buffer.from(text);
  if (bytes.length === text.length) return (start, end) => text.slice(start, end);
  return (start, end) => bytes.toString("utf8", start, end);
}
