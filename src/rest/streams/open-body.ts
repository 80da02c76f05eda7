import { Code, ConnectError } from "@connectrpc/connect";
import { PassThrough, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
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
 * @throws RestError CONTENT_ENCODING_UNSUPPORTED
 */
export function openBody(request: RestRequest, signal: AbortSignal): OpenBody {
  const encoding = request.headers["content-encoding"];
  const isCompressed = decompressorOf(encoding) !== undefined;
  if (hasNoBody(request)) return { chunks: Readable.from([]), close: () => undefined };

  // Nothing is iterated but what can be ended without the socket, over which the answer has to go.
  const body: Transform = isCompressed ? createInflater(encoding) : new PassThrough();
  body.on("error", () => undefined);
  request.on("error", () => undefined);
  request.once("aborted", () => body.destroy(new ConnectError("the client has gone", Code.Canceled)));
  signal.addEventListener("abort", () => body.destroy(toError(signal.reason)), { once: true });
  request.pipe(body);
  return {
    chunks: isCompressed ? explainInflation(body, signal) : body,
    close() {
      request.unpipe(body);
      body.destroy();
      request.resume();
    },
  };
}

function createInflater(encoding: string | undefined): Transform {
  return encoding?.trim().toLowerCase() === "br" ? createBrotliDecompress() : createGunzip();
}

async function* explainInflation(body: Transform, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* body as AsyncIterable<Buffer>;
  } catch (error) {
    if (signal.aborted || error instanceof ConnectError) throw error;
    throw new RestError("BODY_MALFORMED", "the body is not what its Content-Encoding says", { cause: error });
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("the call has ended", { cause: reason });
}
