import type { Message } from "@bufbuild/protobuf";
import type { ServerResponse } from "node:http";
import { constants } from "node:http2";
import type { RestRequest, RestResponse } from "../calls/call-context.ts";
import { isCompressible } from "../calls/content-coding.ts";
import { negotiateCoding } from "../calls/negotiate.ts";
import { keepVary, sendResponse, toNodeHeaders } from "../calls/send-response.ts";
import type { FailureEncoder, FailureWriter } from "../calls/write-failure.ts";
import { compressStream } from "./compress-stream.ts";
import type { Framing } from "./framing/framing.ts";
import { createStreamWriter, type StreamWriter } from "./stream-writer.ts";

/** A streamed response: a head with status 200, then messages, then an end or an error. */
export interface StreamOutput {
  /** Sends the head after `ms` milliseconds without a message, unless the content type is still unknown then. */
  openAfter(ms: number): void;
  /** @returns a promise to await before the next message; undefined if the next message can be written immediately. */
  write(message: Message): Promise<unknown> | undefined;
  end(): void;
  /**
   * Ends the response with an error: with an error response if the head has not been sent; otherwise in the form of the
   * framing, or by closing the connection if the framing has none.
   */
  fail(thrown: unknown): void;
}

/** How long a client may take to read the error with which a response ends, in milliseconds. */
const unreadMs = 5_000;

export interface OutputOptions {
  /** How long a response may be silent before a heartbeat is sent, in milliseconds, if the framing has one. */
  readonly heartbeatMs: number;
  readonly fail: FailureWriter;
  readonly encodeFailure: FailureEncoder;
}

/** @param responseHeader the headers set by the method; read when the head is sent. */
export function createStreamOutput(
  request: RestRequest,
  response: RestResponse,
  framing: Framing,
  responseHeader: Headers,
  { heartbeatMs, fail, encodeFailure }: OutputOptions,
): StreamOutput {
  let writer: StreamWriter | undefined;
  let opening: NodeJS.Timeout | undefined;
  let heartbeat: NodeJS.Timeout | undefined;

  function stopTimers(): void {
    clearTimeout(opening);
    clearInterval(heartbeat);
  }
  response.once("close", stopTimers);

  function begin(): StreamWriter {
    if (writer !== undefined) return writer;
    clearTimeout(opening);
    writer = createStreamWriter(sendHead(request, response, framing, responseHeader));
    if (framing.opening !== "") void writer.write(framing.opening);
    if (framing.heartbeat !== undefined) heartbeat = setInterval(beat, heartbeatMs, writer, framing.heartbeat);
    return writer;
  }

  function open(): void {
    if (writer !== undefined || response.destroyed || framing.contentType() === undefined) return;
    try {
      begin();
      (response as ServerResponse).flushHeaders();
    } catch {
      // Node rejects one of the headers. Writing the first message or the end fails again and responds with the error.
    }
  }

  return {
    openAfter(ms) {
      opening = setTimeout(open, ms);
    },
    write(message) {
      const piece = framing.frame(message);
      const wait = begin().write(piece);
      heartbeat?.refresh();
      return wait;
    },
    end() {
      begin().end(framing.closing);
      stopTimers();
    },
    fail(thrown) {
      stopTimers();
      if (writer === undefined) {
        fail(request, response, thrown);
        return;
      }
      // Encode the error even if it cannot be sent, because `mapError` may count errors.
      const last = framing.failure(encodeFailure(request, thrown));
      if (last === undefined) {
        cut(response);
        return;
      }
      writer.end(last);
      // A client that does not read would keep its connection, and what waits for it.
      const unread = setTimeout(cut, unreadMs, response).unref();
      response.once("close", () => clearTimeout(unread));
    },
  };
}

function beat(writer: StreamWriter, sign: string): void {
  if (!writer.isFull()) void writer.write(sign);
}

/** @returns the stream that the body is written to. */
function sendHead(
  request: RestRequest,
  response: RestResponse,
  framing: Framing,
  responseHeader: Headers,
): Parameters<typeof createStreamWriter>[0] {
  const headers = headOf(framing, responseHeader);
  const coding = isWorthCompressing(framing) ? negotiateCoding(request) : "identity";
  if (coding !== "identity") headers["content-encoding"] = coding;
  const writable = response as ServerResponse;
  keepVary(writable, headers);
  writable.writeHead(200, headers);
  return coding === "identity" ? writable : compressStream(writable, coding);
}

export function sendHeadOnly(request: RestRequest, response: RestResponse, framing: Framing): void {
  sendResponse(request, response, 200, headOf(framing, new Headers()));
}

function headOf(framing: Framing, responseHeader: Headers): Record<string, string | string[]> {
  const headers = { ...framing.headers, ...toNodeHeaders(responseHeader) };
  const contentType = framing.contentType();
  if (contentType !== undefined) headers["content-type"] = contentType;
  const coding = isWorthCompressing(framing) ? "accept-encoding" : undefined;
  const vary = [responseHeader.get("vary"), framing.headers["vary"], coding].filter((names) => names != null);
  if (vary.length > 0) headers["vary"] = vary.join(", ");
  return headers;
}

/**
 * Checks whether the response is compressed. Event streams are not: their events are few and small and the streams are
 * long-lived, so a compressor for each would cost more than it saves.
 */
function isWorthCompressing(framing: Framing): boolean {
  const contentType = framing.contentType();
  return contentType !== undefined && framing.heartbeat === undefined && isCompressible(contentType);
}

/** Closes the connection or resets the HTTP/2 stream, so that the client cannot mistake the response for complete. */
function cut(response: RestResponse): void {
  if ("stream" in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}
