// Rows that lists read again and again. A list that is read each time is read as one text for each row. All else is made from the
// text: the values of the row, its message and its encodings. So a row whose text is as it was is the same object, and what was made
// of it is kept with it.
import type { KnownStatement, StatementResult } from "../../database/connection-pool.ts";
import { type RowTexts, createRowTexts } from "../../database/row-texts.ts";
import { createFairMemory } from "./fair-memory.ts";

/** A list that is read again. */
export interface ListKey {
  /** The org whose memory its rows take. */
  readonly orgId: string;
  /** What its statements select: those of one name return the same columns. */
  readonly select: string;
  /** Everything that tells it from other lists. */
  readonly key: string;
}

export interface KeptRows {
  /** Returns the statement that reads the rows of a given one. Rows that it has read before are the same objects, and frozen. */
  statementOf<Known extends KnownStatement>(list: ListKey, statement: Known): Known;
}

interface KeptRow {
  /** The text that its values are parts of. */
  readonly text: string;
  readonly row: object;
  /** About the memory of both, of its message and of their encodings. */
  readonly bytes: number;
}

/** A list whose rows are kept, as it was read last, by their texts. */
interface KeptList {
  readonly rows: ReadonlyMap<string, KeptRow>;
}

/** A list that is not read as texts. */
interface OtherList {
  readonly rows?: undefined;
  /** About the memory that its rows would take. */
  readonly bytes: number;
  /** Until then, it is not read as texts in any case, because few of its rows were as before. */
  readonly restsUntilMs: number;
}

interface TextRow {
  readonly text: string;
}

/** A list makes room for another one when it was not read for this long. */
const unusedMs = 10_000;
const restMs = 60_000;
/** What a list takes without its rows. */
const bytesOfList = 1_000;
/** What an ordinary row takes. */
const usualBytes = 4_000;

/** @param maxBytes about the maximum memory of all rows, and of what is made from them. */
export function createKeptRows(maxBytes: number, clock = () => performance.now()): KeptRows {
  const memory = createFairMemory<KeptList | OtherList>(maxBytes, clock);
  /** By what is selected. The first result of each says which columns it has. */
  const texts = new Map<string, RowTexts>();

  const hasRoom = ({ key, orgId }: ListKey, bytes: number): boolean => memory.hasRoom(key, orgId, bytes, unusedMs);

  /** Remembers how much memory the rows of a list would take. */
  const remember = (list: ListKey, bytes: number, restsUntilMs = 0): void => {
    if (!hasRoom(list, bytesOfList)) return;
    memory.keep(list.key, list.orgId, { bytes, restsUntilMs }, bytesOfList);
  };

  const readAsTheyAre = (list: ListKey, { fields, rows }: StatementResult): object[] => {
    if (!texts.has(list.select)) texts.set(list.select, createRowTexts(fields));
    remember(list, bytesOfList + rows.length * usualBytes);
    return rows;
  };

  const readAsTexts = (list: ListKey, before: KeptList | OtherList, made: RowTexts, result: readonly TextRow[]) => {
    const rows = new Map<string, KeptRow>();
    let [bytes, known] = [bytesOfList, 0];
    const all = result.map(({ text }) => {
      const found = before.rows?.get(text);
      const one = found ?? { text, row: made.rowOf(text), bytes: sizeOf(text) };
      if (found !== undefined) {
        known++;
        // What is made of a row is kept with it when it was found once.
        Object.freeze(found.row);
      }
      bytes += one.bytes;
      rows.set(one.text, one);
      return one.row;
    });
    const isUseful = before.rows === undefined || 2 * known >= all.length;
    if (!isUseful) remember(list, bytes, clock() + restMs);
    else if (hasRoom(list, bytes)) memory.keep(list.key, list.orgId, { rows }, bytes);
    else remember(list, bytes);
    return all;
  };

  return {
    statementOf(list, statement) {
      const made = texts.get(list.select);
      const kept = memory.get(list.key);
      if (made === undefined || kept === undefined) {
        return { ...statement, rowsOf: (result: StatementResult) => readAsTheyAre(list, result) };
      }
      if (kept.rows === undefined && (kept.restsUntilMs > clock() || !hasRoom(list, kept.bytes))) {
        memory.touch(list.key);
        return statement;
      }
      const rowsOf = ({ rows }: StatementResult): object[] => readAsTexts(list, kept, made, rows as TextRow[]);
      return { ...statement, text: made.statementOf(statement.text), rowsOf };
    },
  };
}

/**
 * Returns about the memory of a row, its message and their encodings, in bytes. Texts that are not in Latin script take two bytes for
 * a character; in JSON, a control character takes six.
 */
function sizeOf(text: string): number {
  return 1_000 + (Buffer.byteLength(text) === text.length ? 8 : 14) * text.length;
}
