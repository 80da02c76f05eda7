import { Code, ConnectError } from "@connectrpc/connect";
import { PassThrough, Readable, type Transform } from "node:stream";
import { createGunzip, type Gunzip } from "node:zlib";
import type { RestRequest } from "../calls/call-context.ts";
import { decompressorOf } from "../calls/content-coding.ts";
import { hasNoBody } from "../calls/read-body.ts";
import { RestError } from "../errors/rest-error.ts";

/** The body of a request as it comes in. */
export interface OpenBody {
  /** Inflated. Is read from the socket, and inflated, only as fast as it is taken from here. */
  readonly chunks: AsyncIterable<Buffer>;
  /** Takes no more of it: what still comes is thrown away. */
  close(): void;
}

/**
 * @param signal ends the body with its reason.
 * @param maxBytes what a body may inflate to, however short it is; a long one may to 200 times its length.
 * @throws RestError CONTENT_ENCODING_UNSUPPORTED
 */
export function openBody(request: RestRequest, signal: AbortSignal, maxBytes: number): OpenBody {
  const encoding = request.headers["content-encoding"];
  const isCompressed = decompressorOf(encoding) !== undefined;
  if (isCompressed && encoding?.trim().toLowerCase() === "br") {
    // Its decoder holds up to 16 MB for as long as the client likes, and nothing bounds that.
    const message = "a body that is streamed may be compressed with gzip only";
    throw new RestError("CONTENT_ENCODING_UNSUPPORTED", message, { headers: { "accept-encoding": "gzip" } });
  }
  if (hasNoBody(request)) return { chunks: Readable.from([]), close: () => undefined };

  // Nothing is iterated but what can be ended without the socket, over which the answer has to go.
  const inflater = isCompressed ? createGunzip() : undefined;
  const body: Transform = inflater ?? new PassThrough();
  body.on("error", () => undefined);
  request.on("error", () => undefined);
  request.once("aborted", () => body.destroy(new ConnectError("the client has gone", Code.Canceled)));
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

/** No text is compressed so well; what is, is made to keep the server busy. */
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
    throw new RestError("BODY_MALFORMED", "the body is not what its Content-Encoding says", { cause: error });
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("the call has ended", { cause: reason });
}
