import { collectPieces } from "../calls/collect-pieces.ts";
import { RestError } from "../errors/rest-error.ts";

/** A line of a body, without its line ending. */
export interface Line {
  /** The line number, starting at 1. */
  readonly number: number;
  readonly bytes: Buffer;
}

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/**
 * Splits bytes into lines that end with LF or CRLF. The line ending is optional for the last line. Lines that contain only
 * spaces and tabs are counted but skipped. Splitting before decoding is safe, because no multi-byte character of UTF-8
 * contains the byte LF.
 *
 * @throws RestError BODY_TOO_LARGE as soon as a line exceeds `maxBytes`.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line> {
  let number = 1;
  const pieces = collectPieces();
  let length = 0;

  function add(piece: Buffer): void {
    length += piece.length;
    if (length > maxBytes) {
      throw new RestError("BODY_TOO_LARGE", `line ${number}: a line must be at most ${maxBytes} bytes long`);
    }
    pieces.add(piece);
  }

  function takeLine(): Line {
    let bytes = pieces.take();
    if (bytes.at(-1) === carriageReturn) bytes = bytes.subarray(0, -1);
    length = 0;
    return { number: number++, bytes };
  }

  for await (const chunk of chunks) {
    let start = 0;
    for (;;) {
      if (length === 0) {
        const blank = findBlankLines(chunk, start, maxBytes);
        number += blank.count;
        start = blank.end;
      }
      const end = chunk.indexOf(lineFeed, start);
      if (end === -1) break;
      add(chunk.subarray(start, end));
      start = end + 1;
      const line = takeLine();
      if (!isBlank(line.bytes)) yield line;
    }
    add(chunk.subarray(start));
  }
  const last = takeLine();
  if (!isBlank(last.bytes)) yield last;
}

/**
 * Returns how many blank lines there are from `start` on before the first other one, and where they end. A compressed body can
 * have millions of them, so they are only counted. Lines that are longer than `maxBytes`, or whose CRLF is split, are left.
 */
function findBlankLines(chunk: Buffer, start: number, maxBytes: number): { count: number; end: number } {
  let [count, end] = [0, start];
  for (let index = start; index < chunk.length && index - end <= maxBytes; index++) {
    const byte = chunk[index];
    if (byte === lineFeed) {
      count++;
      end = index + 1;
    } else if (byte === carriageReturn) {
      if (chunk[index + 1] !== lineFeed) break;
    } else if (byte !== space && byte !== tab) break;
  }
  return { count, end };
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === space || byte === tab);
}
