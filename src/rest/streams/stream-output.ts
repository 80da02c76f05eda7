import type { Message } from "@bufbuild/protobuf";
import type { ServerResponse } from "node:http";
import { constants } from "node:http2";
import type { RestRequest, RestResponse } from "../calls/call-context.ts";
import { isCompressible } from "../calls/content-coding.ts";
import { negotiateCoding } from "../calls/negotiate.ts";
import { keepVary, sendResponse, toNodeHeaders } from "../calls/send-response.ts";
import type { FailureEncoder, FailureWriter } from "../errors/write-failure.ts";
import { compressStream } from "./compress-stream.ts";
import type { Framing } from "./framing/framing.ts";
import { createStreamWriter, type StreamWriter } from "./stream-writer.ts";

/** The answer of a method that streams: a head with status 200, then messages, then an end or an error. */
export interface StreamOutput {
  /** Sends the head after some time without a message, unless its content type is not known by then. */
  openAfter(ms: number): void;
  /** @returns a promise to wait for before the next message; undefined when there may be another at once. */
  write(message: Message): Promise<unknown> | undefined;
  end(): void;
  /** Ends with an error: an error answer if the head has not been sent, else in the framing's form, else a cut. */
  fail(thrown: unknown): void;
}

export interface OutputOptions {
  /** How long an answer may be silent before a heartbeat is sent, if its form has one. */
  readonly heartbeatMs: number;
  readonly fail: FailureWriter;
  readonly encodeFailure: FailureEncoder;
}

/** @param responseHeader is read when the head is sent. */
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
      // A header that Node does not take: the first message or the end meets it again and answers with it.
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
      // Also when nobody is there to read it: whoever maps errors counts them.
      const last = framing.failure(encodeFailure(request, thrown));
      if (last === undefined) cut(response);
      else writer.end(last);
    },
  };
}

function beat(writer: StreamWriter, sign: string): void {
  if (!writer.isFull()) void writer.write(sign);
}

/** @returns what the body is written to. */
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

/** What HEAD is answered. */
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

/** Events are few and small, and their answers last: a compressor for each would cost more than it saves. */
function isWorthCompressing(framing: Framing): boolean {
  const contentType = framing.contentType();
  return contentType !== undefined && framing.heartbeat === undefined && isCompressible(contentType);
}

/** Ends the connection or the HTTP/2 stream so that the client cannot take what it has for all there is. */
function cut(response: RestResponse): void {
  if ("stream" in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}
