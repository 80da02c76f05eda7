import { type Hash, createHash } from "node:crypto";
import { digestRows } from "./copied-tables.ts";
import type { DumpError } from "./dump-error.ts";
import {
  type Manifest,
  type TableEnd,
  type TableHead,
  damaged,
  noDump,
  parseManifest,
  parseTableEnd,
  parseTableHeadOrEnd,
} from "./manifest.ts";

export interface DumpReader {
  readonly onManifest: (manifest: Manifest) => Promise<void>;
  /**
   * Called for each table, in their order. The hash of its rows is checked when all have been read.
   *
   * @param rows the text of its rows, which this function reads to their end.
   */
  readonly onTable: (head: TableHead, rows: AsyncIterable<Buffer>) => Promise<void>;
  /** Called for each table whose hash is right. */
  readonly onTableEnd: (head: TableHead, end: TableEnd) => Promise<void>;
}

/**
 * Reads the text of a dump, and checks that it is whole.
 *
 * @returns how many tables and rows it has.
 * @throws DumpError NO_DUMP, NEWER or DAMAGED; what the reader throws.
 */
export async function readDump(
  source: AsyncIterable<Buffer>,
  reader: DumpReader,
): Promise<{ readonly tables: number; readonly rows: number }> {
  const bytes = createByteReader(source);
  const all = createHash("sha256");
  const nextLine = async (atEnd?: DumpError): Promise<string> => addTo(all, await bytes.line(atEnd));
  await reader.onManifest(parseManifest(await nextLine(noDump())));
  for (let tables = 0, rows = 0; ; tables++) {
    // The last line is not part of its own hash.
    const line = await bytes.line();
    const head = parseTableHeadOrEnd(line);
    if (!("table" in head)) {
      if (head.tables !== tables || head.sha256 !== all.digest("hex")) throw damaged("its hash is another one");
      if (!(await bytes.isOver())) throw damaged("something follows its end");
      return { tables, rows };
    }
    addTo(all, line);
    const digest = digestRows();
    const counted = tap(bytes.rows(), (chunk) => {
      digest.add(chunk);
      all.update(chunk);
    });
    await reader.onTable(head, counted);
    all.update(endOfRows);
    const end = parseTableEnd(await nextLine());
    const found = digest.end();
    if (end.rows !== found.rows || end.sha256 !== found.sha256) {
      throw damaged(`the rows of ${head.table} are not those that were written`);
    }
    rows += end.rows;
    await reader.onTableEnd(head, end);
  }
}

function addTo(hash: Hash, line: string): string {
  hash.update(`${line}\n`);
  return line;
}

async function* tap(source: AsyncIterable<Buffer>, look: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    look(chunk);
    yield chunk;
  }
}

const newline = 10;
const endOfRows = Buffer.from("\\.\n");
const endAfterRow = Buffer.from("\n\\.\n");

/** The longest line that is no row: the first one, with the names of all migrations and with secret keys. */
const longestLine = 1_048_576;

interface ByteReader {
  /** @param atEnd thrown if there is none; by default, the error of a file that is cut off. */
  readonly line: (atEnd?: DumpError) => Promise<string>;
  /** Returns what follows, up to the line that ends rows, which is left out. */
  readonly rows: () => AsyncIterable<Buffer>;
  readonly isOver: () => Promise<boolean>;
}

function createByteReader(source: AsyncIterable<Buffer>): ByteReader {
  const chunks = source[Symbol.asyncIterator]();
  let buffer: Buffer = Buffer.alloc(0);

  const fill = async (): Promise<boolean> => {
    const next = await chunks.next();
    if (next.done === true) return false;
    buffer = buffer.length === 0 ? next.value : Buffer.concat([buffer, next.value]);
    return true;
  };
  const take = (length: number): Buffer => {
    const taken = buffer.subarray(0, length);
    buffer = buffer.subarray(length);
    return taken;
  };
  const cutOff = (): DumpError => damaged("its end is missing");

  return {
    async line(atEnd) {
      for (;;) {
        const end = buffer.indexOf(newline);
        if (end !== -1) {
          const text = take(end).toString("utf8");
          take(1);
          return text;
        }
        if (buffer.length > longestLine) throw atEnd ?? damaged("a line is too long");
        if (!(await fill())) throw atEnd ?? cutOff();
      }
    },

    async *rows() {
      while (buffer.length < endOfRows.length) if (!(await fill())) throw cutOff();
      if (buffer.subarray(0, endOfRows.length).equals(endOfRows)) {
        take(endOfRows.length);
        return;
      }
      for (;;) {
        const end = buffer.indexOf(endAfterRow);
        if (end !== -1) {
          yield take(end + 1);
          take(endOfRows.length);
          return;
        }
        // What is kept may be the beginning of the end.
        const ready = buffer.length - endOfRows.length;
        if (ready > 0) yield take(ready);
        if (!(await fill())) throw cutOff();
      }
    },

    async isOver() {
      while (buffer.length === 0) if (!(await fill())) return true;
      return false;
    },
  };
}
