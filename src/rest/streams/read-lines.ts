import { collectPieces } from "../calls/collect-pieces.ts";
import { RestError } from "../errors/rest-error.ts";

/** A line of a body, without its line ending. */
export interface Line {
  /** The line number, starting at 1. */
  readonly number: number;
  readonly bytes: Buffer;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

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
