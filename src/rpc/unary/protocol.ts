import type { IncomingHttpHeaders } from "node:http";
import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import type { HttpRequest, HttpResponse } from "../../http/http-messages.ts";
import type { BodyLimits } from "../../rest/calls/body-limits.ts";

export interface UnaryExchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Of the response. */
  readonly contentType: string;
  /** What the response has besides its message or error. */
  readonly context: Pick<HandlerContext, "responseHeader" | "responseTrailer">;
}

/** How a protocol carries one request message and one response message. */
export interface Protocol {
  readonly name: "connect" | "grpc" | "grpc-web";
  /** Returns what the client allows, or why its header cannot be read. */
  readonly timeoutOf: (headers: IncomingHttpHeaders) => {
    timeoutMs?: number | undefined;
    error?: ConnectError | undefined;
  };
  /**
   * Reads the bytes of the request message, decompressed.
   *
   * @param limits those of the message, before and after decompression.
   * @param onRead called once, unless the client disconnects first.
   */
  readonly read: (request: HttpRequest, limits: BodyLimits, onRead: (message: Buffer | Error) => void) => void;
  /** Sends the response. Returns a promise if it is compressed first. */
  readonly send: (exchange: UnaryExchange, message: Uint8Array) => void | Promise<void>;
  readonly sendError: (exchange: UnaryExchange, error: ConnectError) => void;
}
