// The Connect protocol: the body is the message, and an error is JSON with the HTTP status of its code.
import { ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes, parseTimeout } from "@connectrpc/connect/protocol-connect";
import { compress, leastCompressedBytes } from "../../rest/calls/content-coding.ts";
import { fieldsOf } from "../../rest/calls/lazy-headers.ts";
import { negotiateCoding } from "../../rest/calls/negotiate.ts";
import { inflate, readBytes } from "../../rest/calls/read-body.ts";
import { sendResponse, toNodeHeaders } from "../../rest/calls/send-response.ts";
import type { Protocol, UnaryExchange } from "./protocol.ts";
import { findDecompressor } from "./request-coding.ts";

export const connectProtocol: Protocol = {
  name: "connect",

  timeoutOf(headers) {
    const given = headers["connect-timeout-ms"];
    return given === undefined ? {} : parseTimeout(String(given), Number.POSITIVE_INFINITY);
  },

  read(request, limits, onRead) {
    const decompress = findDecompressor(request.headers["content-encoding"], "accept-encoding");
    if (decompress instanceof ConnectError) {
      onRead(decompress);
      return;
    }
    readBytes(request, limits, (body) => {
      if (decompress === undefined || !(body instanceof Buffer) || body.length === 0) onRead(body);
      else inflate(body, decompress, limits, onRead);
    });
  },

  send(exchange, message) {
    const { request, response, contentType } = exchange;
    const headers = headersOf(exchange);
    headers["content-type"] = contentType;
    const coding = message.length < leastCompressedBytes ? "identity" : negotiateCoding(request);
    if (coding === "identity") {
      sendResponse(request, response, 200, headers, message);
      return undefined;
    }
    headers["content-encoding"] = coding;
    return compress(message, coding).then((body) => sendResponse(request, response, 200, headers, body));
  },

  sendError(exchange, error) {
    const { request, response } = exchange;
    const headers = { ...headersOf(exchange), ...toNodeHeaders(error.metadata), "content-type": "application/json" };
    sendResponse(request, response, codeToHttpStatus(error.code), headers, errorToJsonBytes(error, undefined));
  },
};

/** Returns the headers of a response; trailers are headers with a prefix. */
function headersOf({ context }: UnaryExchange): Record<string, string | string[]> {
  const headers = toNodeHeaders(context.responseHeader);
  for (const [name, value] of fieldsOf(context.responseTrailer)) headers[`trailer-${name}`] = value;
  return headers;
}
