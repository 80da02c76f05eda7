import type { Message } from "@bufbuild/protobuf";
import { RestError } from "../errors/rest-error.ts";
import { readLines } from "./read-lines.ts";

/** Binds one piece of a body, with path and query, as if it were the whole body. */
export type BindPiece = (piece: Buffer | undefined, isFirst: boolean) => Message;

/**
 * Reads one message from each line of a body. A line may be at most `maxLineBytes` long.
 *
 * @throws RestError that names the line.
 */
export async function* readLineMessages(
  chunks: AsyncIterable<Buffer>,
  maxLineBytes: number,
  bind: BindPiece,
): AsyncGenerator<Message> {
  for await (const { number, bytes } of readLines(chunks, maxLineBytes)) {
    let message: Message;
    try {
      message = bind(bytes, number === 1);
    } catch (error) {
      throw error instanceof RestError ? inLine(number, error) : error;
    }
    yield message;
  }
}

function inLine(number: number, { reason, message, violations, headers, cause }: RestError): RestError {
  const located = violations.map((violation) => ({
    ...violation,
    description: `in line ${number} ${violation.description}`,
  }));
  return new RestError(reason, `line ${number}: ${message}`, { violations: located, headers: { ...headers }, cause });
}

/** Reads one message from each chunk of a body, and one message from an empty body. */
export async function* readChunkMessages(chunks: AsyncIterable<Buffer>, bind: BindPiece): AsyncGenerator<Message> {
  let isFirst = true;
  for await (const chunk of chunks) {
    yield bind(chunk, isFirst);
    isFirst = false;
  }
  if (isFirst) yield bind(undefined, true);
}
