// gRPC and gRPC-Web: each message has a prefix of five bytes, and the status follows in trailers, which gRPC-Web has in the body.
import { Code, ConnectError } from "@connectrpc/connect";
import { parseTimeout, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import { compress, leastCompressedBytes } from "../../rest/calls/content-coding.ts";
import { inflate, readBytes } from "../../rest/calls/read-body.ts";
import { sendResponse, toNodeHeaders } from "../../rest/calls/send-response.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { limitTrailers } from "./limit-trailers.ts";
import type { Protocol, UnaryExchange } from "./protocol.ts";
import { findDecompressor } from "./request-coding.ts";

/** Lists the codings of messages that the server reads. */
const acceptingHeader = "grpc-accept-encoding";

/** A byte of flags, and the length of the message in four bytes. */
const prefixBytes = 5;
const compressedFlag = 1;

const nothing = Buffer.alloc(0);

type Headers = Record<string, string | string[]>;

/** Sends a frame, if there is one, and the trailers. */
type Finish = (exchange: UnaryExchange, headers: Headers, trailer: globalThis.Headers, frame?: Buffer) => void;

export const grpcProtocol: Protocol = createProtocol("grpc", ({ request, response }, headers, trailer, frame) => {
  // Node sends the headers before it knows that no body follows, so the status is in trailers even if there is no message.
  sendResponse(request, response, 200, headers, frame ?? nothing, toNodeHeaders(trailer));
});

export const grpcWebProtocol: Protocol = createProtocol("grpc-web", (exchange, headers, trailer, frame) => {
  const end = toFrame(trailerFlag, trailerSerialize(trailer));
  sendResponse(
    exchange.request,
    exchange.response,
    200,
    headers,
    frame === undefined ? end : Buffer.concat([frame, end]),
  );
});

function createProtocol(name: "grpc" | "grpc-web", finish: Finish): Protocol {
  return {
    name,

    timeoutOf(headers) {
      const given = headers["grpc-timeout"];
      return given === undefined ? {} : parseTimeout(String(given), Number.POSITIVE_INFINITY);
    },

    read(request, limits, onRead) {
      const decompress = findDecompressor(request.headers["grpc-encoding"], acceptingHeader);
      if (decompress instanceof ConnectError) {
        onRead(decompress);
        return;
      }
      readBytes(request, { ...limits, maxBytes: limits.maxBytes + prefixBytes }, (body) => {
        const message = body instanceof Buffer ? unframe(body) : body;
        const isCompressed = body instanceof Buffer && body[0] === compressedFlag;
        if (!isCompressed || !(message instanceof Buffer)) onRead(message);
        else if (decompress === undefined) onRead(withoutCoding());
        else inflate(message, decompress, limits, onRead);
      });
    },

    send(exchange, message) {
      const { context, contentType, request } = exchange;
      const headers = toNodeHeaders(context.responseHeader);
      headers["content-type"] = contentType;
      const trailer = setTrailerStatus(context.responseTrailer, undefined);
      const coding = message.length < leastCompressedBytes ? undefined : acceptedCoding(request);
      if (coding === undefined) {
        finish(exchange, headers, trailer, toFrame(0, message));
        return undefined;
      }
      headers["grpc-encoding"] = coding;
      return compress(message, coding).then((body) =>
        finish(exchange, headers, trailer, toFrame(compressedFlag, body)),
      );
    },

    sendError(exchange, error) {
      const headers = toNodeHeaders(exchange.context.responseHeader);
      headers["content-type"] = exchange.contentType;
      // A header of the response, where the status has an unknown compression. The trailers have only the status.
      const accepting = error.metadata.get(acceptingHeader);
      if (accepting !== null) headers[acceptingHeader] = accepting;
      // gRPC-Web has its trailers in the body.
      const sent = name === "grpc" ? limitTrailers(error) : error;
      const trailer = setTrailerStatus(exchange.context.responseTrailer, sent);
      trailer.set("grpc-message", encodeMessage(sent.rawMessage));
      finish(exchange, headers, trailer);
    },
  };
}

/**
 * Encodes a message as https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#responses says: visible ASCII stays as it is, but for
 * `%`. grpc-js decodes with `decodeURI`, and would show `%2Forgs`.
 */
function encodeMessage(message: string): string {
  return encodeURIComponent(message).replaceAll(/%(?:2[1-46-9A-F]|[3-6][0-9A-F]|7[0-9A-E])/g, decodeURIComponent);
}

function unframe(body: Buffer): Buffer | ConnectError {
  if (body.length === 0) return new ConnectError("the request has no message", Code.Unimplemented);
  if (body.length < prefixBytes) return truncated();
  if ((body[0] ?? 0) > compressedFlag) return new ConnectError("the message has unknown flags", Code.InvalidArgument);
  const end = prefixBytes + body.readUInt32BE(1);
  if (body.length < end) return truncated();
  if (body.length > end) return new ConnectError("the request has more than one message", Code.Unimplemented);
  return body.subarray(prefixBytes);
}

function truncated(): ConnectError {
  return new ConnectError("the request ends within a message", Code.InvalidArgument);
}

function withoutCoding(): ConnectError {
  return new ConnectError("the message is compressed, and grpc-encoding does not say how", Code.Internal);
}

export function toFrame(flags: number, message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame[0] = flags;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, prefixBytes);
  return frame;
}

/** Returns the first known coding that the client accepts: by its header or, without that, the coding of its request. */
function acceptedCoding({ headers }: HttpRequest): "gzip" | "br" | undefined {
  const accepted = String(headers["grpc-accept-encoding"] ?? headers["grpc-encoding"] ?? "").split(",", 16);
  return accepted.map((name) => name.trim()).find((name) => name === "gzip" || name === "br");
}
