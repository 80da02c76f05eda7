import { CommandError, exitCodes } from "../command-error.ts";
import { unreachable } from "./unreachable.ts";

/** A page of a list has at most 1000 resources. */
const maxBytes = 64 * 1024 * 1024;

/** Reads a body. @throws CommandError if it is longer than 64 MiB, or does not come to its end. */
export async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunksOf(response)) {
    length += chunk.byteLength;
    // The end of the loop closes the connection.
    if (length > maxBytes) throw tooLong("the service sends more than 64 MiB in one answer");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** A message of a stream has one change, which has a resource before and after. */
const maxLine = 16 * 1024 * 1024;

/** Returns the lines of a stream as they come, without those that are empty. @throws CommandError as `readBody` does. */
export async function* readLines(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunksOf(response)) {
    const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
    rest += first;
    if (rest.length > maxLine) throw tooLong("the service sends a line that is too long");
    for (const line of others) {
      if (rest.trim() !== "") yield rest;
      rest = line;
    }
  }
  if (rest.trim() !== "") yield rest;
}

async function* chunksOf(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  try {
    for await (const chunk of response.body) yield chunk;
  } catch (error) {
    throw unreachable(new URL(response.url).origin, error);
  }
}

function tooLong(message: string): CommandError {
  return new CommandError(message, { exitCode: exitCodes.refused, reason: "ANSWER_TOO_LONG" });
}
