// Rows that lists read again and again. A list that is read each time is read as one text for each row. All else is made from the
// text: the values of the row, its message and its encodings. So a row whose text is as it was is the same object, and what was made
// of it is kept with it.
import type { KnownStatement, StatementResult } from "../../database/connection-pool.ts";
import { type RowTexts, createRowTexts } from "../../database/row-texts.ts";
import { createFairMemory } from "./fair-memory.ts";

/** A list that is read again. */
interface KeptListKey {
  /** The org whose memory its rows take. */
  readonly orgId: string;
  /** What its statements select: those of one name return the same columns. */
  readonly select: string;
  /** Everything that tells it from other lists of the org. */
  readonly key: string;
  /** How many rows it may have. */
  readonly size: number;
}

export interface KeptRows {
  /** Returns the statement that reads the rows of a given one. Rows that it has read before are the same objects, and frozen. */
  statementOf<Known extends KnownStatement>(list: KeptListKey, statement: Known): Known;
}

/** The rows of a list as it was read last, by their texts. */
interface KeptList {
  readonly rows: ReadonlyMap<string, object>;
  /** Until then, the list is not read as texts, because few of its rows were as before. */
  readonly restsUntilMs: number;
}

interface TextRow {
  readonly text: string;
}

/** A list whose rows are kept makes room for another one when it was not read for this long. */
const unusedMs = 10_000;
const restMs = 60_000;
/** What a list takes that is not read as texts. */
const bytesOfList = 1_000;
/** What an ordinary row takes. */
const usualBytes = 4_000;

/** @param maxBytes about the maximum memory of all rows, and of what is made from them. */
export function createKeptRows(maxBytes: number, clock = () => performance.now()): KeptRows {
  const memory = createFairMemory<KeptList>(maxBytes, clock);
  /** By what is selected. The first result of each says which columns it has. */
  const texts = new Map<string, RowTexts>();

  /** Returns the rows of a result, and keeps them if enough of them were there before. */
  const read = (list: KeptListKey, kept: KeptList | undefined, made: RowTexts, result: readonly TextRow[]) => {
    const rows = new Map<string, object>();
    let [bytes, known] = [bytesOfList, 0];
    const found = result.map(({ text }) => {
      const before = kept?.rows.get(text);
      // What is made of a row is kept with it when it was found once.
      const row = before === undefined ? made.rowOf(text) : Object.freeze(before);
      if (before !== undefined) known++;
      bytes += sizeOf(text);
      rows.set(text, row);
      return row;
    });
    const isFirst = kept === undefined || kept.rows.size === 0;
    const isUseful = isFirst || 2 * known >= found.length;
    if (!isUseful || !memory.keep(list.key, list.orgId, { rows, restsUntilMs: 0 }, bytes)) {
      memory.keep(list.key, list.orgId, { rows: new Map(), restsUntilMs: clock() + restMs }, bytesOfList);
    }
    return found;
  };

  return {
    statementOf(list, statement) {
      const made = texts.get(list.select);
      if (made === undefined) {
        const rowsOf = ({ fields, rows }: StatementResult): object[] => {
          texts.set(list.select, createRowTexts(fields));
          return rows;
        };
        return { ...statement, rowsOf };
      }
      const kept = memory.get(list.key);
      const isReadAsTexts =
        kept === undefined
          ? memory.hasRoom(list.orgId, list.size * usualBytes, unusedMs)
          : kept.restsUntilMs <= clock();
      if (!isReadAsTexts) {
        memory.touch(list.key);
        return statement;
      }
      const rowsOf = ({ rows }: StatementResult): object[] => read(list, kept, made, rows as TextRow[]);
      return { ...statement, text: made.statementOf(statement.text), rowsOf };
    },
  };
}

/** Returns about the memory of a row, its message and their encodings, in bytes. In JSON, a control character takes six. */
function sizeOf(text: string): number {
  return 1_000 + 8 * text.length;
}
