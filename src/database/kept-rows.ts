// Rows that lists read again and again. A list that was read before is read as one text for each row, from which everything else is
// made: the values of the row, its message and its JSON. A row whose text is known is not made again. It is the same object, so what
// was made of it can be kept with it.
import type pg from "pg";
import { columnTypes } from "./json-types.ts";
import { splitRecord } from "./split-record.ts";

/** A statement, and what makes rows of its result. */
interface RowsStatement {
  readonly text: string;
  rowsOf(result: Pick<pg.QueryResult<object>, "rows" | "fields">): object[];
}

export interface KeptRows {
  /** Returns the statement that reads the rows of a given one. The rows that it returns are frozen if they are kept. */
  statementOf(text: string): RowsStatement;
}

export interface RowMemory {
  /**
   * Returns the rows that are kept for an org.
   *
   * @param select names what statements select: those of one name return the same columns.
   */
  of(orgId: string, select: string): KeptRows;
}

/** Rows by their texts, for each of what is selected. */
interface Generation {
  readonly selects: Map<string, Map<string, object>>;
  bytes: number;
}

/** The rows of an org. When the young ones have taken half of its part, they become the old ones, which are forgotten. */
interface OfOrg {
  young: Generation;
  old: Generation;
}

/** Makes a row of the texts of its values, as pg does. */
type MakeRow = (values: readonly (string | null)[]) => object;

/** No org takes more than its part. */
const partOfOrg = 4;

/** What an org takes that has no rows. */
const bytesOfOrg = 1_000;

/** @param maxBytes about the maximum memory of all rows, and of what is made from them. */
export function createRowMemory(maxBytes: number): RowMemory {
  const halfOfOrg = maxBytes / partOfOrg / 2;
  /** In the order of last use, least recent first. */
  const orgs = new Map<string, OfOrg>();
  /** By what is selected. The first result of each says which columns it has. */
  const makers = new Map<string, MakeRow>();
  let total = 0;

  /** Returns an org as the one that was used last. */
  const use = (orgId: string): OfOrg => {
    const known = orgs.get(orgId);
    const org = known ?? { young: createGeneration(), old: createGeneration() };
    if (known === undefined) total += bytesOfOrg;
    orgs.delete(orgId);
    orgs.set(orgId, org);
    return org;
  };

  const keep = (org: OfOrg, select: string, text: string, row: object): void => {
    const bytes = sizeOf(text);
    if (bytes > halfOfOrg) return;
    if (org.young.bytes + bytes > halfOfOrg) {
      total -= org.old.bytes;
      [org.old, org.young] = [org.young, createGeneration()];
    }
    const { selects } = org.young;
    selects.set(select, (selects.get(select) ?? new Map<string, object>()).set(text, row));
    org.young.bytes += bytes;
    total += bytes;
  };

  const makeRoom = (): void => {
    for (const [id, { young, old }] of orgs) {
      if (total <= maxBytes) break;
      orgs.delete(id);
      total -= bytesOfOrg + young.bytes + old.bytes;
    }
  };

  const findOrMake = (org: OfOrg, select: string, text: string, make: MakeRow): object => {
    const young = org.young.selects.get(select)?.get(text);
    if (young !== undefined) return young;
    const row = org.old.selects.get(select)?.get(text) ?? Object.freeze(make(splitRecord(text)));
    keep(org, select, text, row);
    return row;
  };

  /** Reads rows as they are, and remembers what makes them. */
  const plain = (select: string, text: string): RowsStatement => ({
    text,
    rowsOf({ fields, rows }) {
      makers.set(select, createMaker(fields));
      return rows;
    },
  });

  return {
    of: (orgId, select) => ({
      statementOf(text) {
        const make = makers.get(select);
        if (make === undefined) return plain(select, text);
        return {
          text: `select (page.*)::text as page from (${text}) as page`,
          rowsOf({ rows }) {
            const org = use(orgId);
            const found = (rows as { readonly page: string }[]).map(({ page }) => findOrMake(org, select, page, make));
            makeRoom();
            return found;
          },
        };
      },
    }),
  };
}

function createGeneration(): Generation {
  return { selects: new Map(), bytes: 0 };
}

/** Returns about the memory of a row, its message and their texts, in bytes. In JSON, a control character takes six. */
function sizeOf(text: string): number {
  return 2_500 + 10 * text.length;
}

function createMaker(fields: readonly Pick<pg.FieldDef, "name" | "dataTypeID">[]): MakeRow {
  const empty: Record<string, unknown> = {};
  for (const { name } of fields) empty[name] = null;
  const columns = fields.map(({ name, dataTypeID }) => {
    const parse = columnTypes.getTypeParser(dataTypeID, "text") as (text: string) => unknown;
    return { name, parse };
  });
  return (values) => {
    const row = { ...empty };
    for (const [index, value] of values.entries()) {
      const column = columns[index];
      if (column !== undefined && value !== null) row[column.name] = column.parse(value);
    }
    return row;
  };
}
