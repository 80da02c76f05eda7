import { collectPieces } from "../calls/collect-pieces.ts";
import { RestError } from "../errors/rest-error.ts";

/** A line of a body, without what ends it. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly bytes: Buffer;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Splits bytes into lines that end with LF or CRLF; the last one need not. Lines that hold nothing but spaces and tabs are
 * counted and left out. UTF-8 has no LF inside a character, so that lines are decoded whole.
 *
 * @throws RestError BODY_TOO_LARGE for a line of more than `maxBytes`, before it is read to its end.
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
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
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

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09);
}
