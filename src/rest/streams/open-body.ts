import { Code, ConnectError } from "@connectrpc/connect";
import { PassThrough, Readable, type Transform } from "node:stream";
import { createGunzip, type Gunzip } from "node:zlib";
import type { RestRequest } from "../calls/call-context.ts";
import { decompressorOf } from "../calls/content-coding.ts";
import { hasNoBody } from "../calls/read-body.ts";
import { RestError } from "../errors/rest-error.ts";

export interface OpenBody {
  /** The decompressed body. It is read from the socket and decompressed only as fast as it is consumed. */
  readonly chunks: AsyncIterable<Buffer>;
  /** Stops reading. The rest of the body is discarded. */
  close(): void;
}

/**
 * Opens the body of a request for streaming.
 *
 * @param signal destroys the body with its reason when it aborts.
 * @param maxBytes how much any body may inflate to, in addition to 200 times its compressed length.
 * @throws RestError CONTENT_ENCODING_UNSUPPORTED
 */
export function openBody(request: RestRequest, signal: AbortSignal, maxBytes: number): OpenBody {
  const encoding = request.headers["content-encoding"];
  const isCompressed = decompressorOf(encoding) !== undefined;
  if (isCompressed && encoding?.trim().toLowerCase() === "br") {
    // A Brotli decoder holds up to 16 MB for the duration of the stream, which the client controls and nothing limits.
    const message = "a streamed body may be compressed only with gzip";
    throw new RestError("CONTENT_ENCODING_UNSUPPORTED", message, { headers: { "accept-encoding": "gzip" } });
  }
  if (hasNoBody(request)) return { chunks: Readable.from([]), close: () => undefined };

  // Iterate over a separate stream, which can be destroyed without the socket. The response still needs the socket.
  const inflater = isCompressed ? createGunzip() : undefined;
  const body: Transform = inflater ?? new PassThrough();
  body.on("error", () => undefined);
  request.on("error", () => undefined);
  request.once("aborted", () => body.destroy(new ConnectError("the client has disconnected", Code.Canceled)));
  signal.addEventListener("abort", () => body.destroy(toError(signal.reason)), { once: true });
  request.pipe(body);
  return {
    chunks: inflater === undefined ? body : boundInflation(inflater, signal, maxBytes),
    close() {
      request.unpipe(body);
      body.destroy();
      request.resume();
    },
  };
}

/** The maximum ratio of inflated to compressed size. Text does not compress this well; a higher ratio indicates an attack. */
const mostInflation = 200;

async function* boundInflation(body: Gunzip, signal: AbortSignal, maxBytes: number): AsyncGenerator<Buffer> {
  let inflated = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      inflated += chunk.length;
      if (inflated > maxBytes + mostInflation * body.bytesWritten) {
        throw new RestError("BODY_TOO_LARGE", `the body inflates to more than ${mostInflation} times its length`);
      }
      yield chunk;
    }
  } catch (error) {
    if (signal.aborted || error instanceof ConnectError || error instanceof RestError) throw error;
    throw new RestError("BODY_MALFORMED", "the body does not match its Content-Encoding", { cause: error });
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("the call has ended", { cause: reason });
}
