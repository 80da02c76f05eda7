// Connect over GET, for methods without side effects. The message is in the query: `?connect=v1&encoding=json&message=%7B%7D`.
import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import type { HttpRequest } from "../../http/http-messages.ts";
import { queryOf } from "../../http/request-path.ts";
import { inflate } from "../../rest/calls/read-body.ts";
import { quote, RestError, type RestErrorReason } from "../../rest/errors/rest-error.ts";
import { parseBase64 } from "../../rest/json/parse-base64.ts";
import type { Encoding } from "./codecs.ts";
import { connectProtocol } from "./connect.ts";
import type { Protocol, UnaryExchange } from "./protocol.ts";
import { findDecompressor, unknownCoding } from "./request-coding.ts";

export function isCalledWithGet({ idempotency }: DescMethod): boolean {
  return idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/** Returns the encoding of the message in the URL of a request; JSON, in which errors are written, if it names neither encoding. */
export function encodingInUrl(request: HttpRequest): Encoding {
  return queryOf(request).get("encoding") === "proto" ? "proto" : "json";
}

export const connectGetProtocol: Protocol = {
  ...connectProtocol,

  read(request, limits, onRead) {
    try {
      const { message, decompress } = readQuery(request);
      if (decompress === undefined || message.length === 0) onRead(message);
      else inflate(message, decompress, limits, onRead);
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
      onRead(error);
    }
  },

  send(exchange, message) {
    limitCaches(exchange);
    return connectProtocol.send(exchange, message);
  },

  sendError(exchange, error) {
    limitCaches(exchange);
    connectProtocol.sendError(exchange, error);
  },
};

/** The response is for its caller only and may change at any time, so a cache must ask each time, even one that caches every GET. */
function limitCaches({ context: { responseHeader } }: UnaryExchange): void {
  if (!responseHeader.has("cache-control")) responseHeader.set("cache-control", "private, no-cache");
  responseHeader.append("vary", "accept-encoding");
}

/** @throws RestError that names the parameter that is wrong. */
function readQuery(request: HttpRequest) {
  const parameters = parametersOf(request.url ?? "");
  const textOf = (name: string): string | undefined => parameters.get(name)?.toString();
  requireOneOf("connect", ["v1"], textOf("connect") ?? "v1");
  requireOneOf("encoding", ["json", "proto"], textOf("encoding"));
  requireOneOf("base64", ["0", "1"], textOf("base64") ?? "0");
  const given = parameters.get("message");
  if (given === undefined) throw invalid("message", "be set, also if the message is empty");
  const message = textOf("base64") === "1" ? parseBase64(given.toString()) : given;
  if (message === undefined) {
    throw invalid("message", "be in base64 for URLs, because of base64=1", given.toString());
  }
  const compression = textOf("compression");
  const decompress = findDecompressor(compression, "accept-encoding");
  if (decompress instanceof ConnectError) {
    throw wrong(
      "CONTENT_ENCODING_UNSUPPORTED",
      "compression",
      unknownCoding(compression),
      Object.fromEntries(decompress.metadata),
    );
  }
  return { message: Buffer.from(message), decompress };
}

const names = new Set(["connect", "encoding", "message", "base64", "compression"]);

/** Returns the bytes of the parameters by name. A message may be bytes that are no text. */
function parametersOf(url: string): ReadonlyMap<string, Buffer> {
  const parameters = new Map<string, Buffer>();
  const query = url.includes("?") ? url.slice(url.indexOf("?") + 1) : "";
  for (const part of query.split("&")) {
    const equals = part.indexOf("=");
    const name = equals === -1 ? part : part.slice(0, equals);
    if (!names.has(name)) continue;
    if (parameters.has(name)) throw wrong("FIELD_INVALID", name, "must be given once, got several");
    parameters.set(name, decode(name, equals === -1 ? "" : part.slice(equals + 1)));
  }
  return parameters;
}

/** Decodes the encoding of HTML forms, in which "+" is a space. */
function decode(name: string, text: string): Buffer {
  const [start = "", ...escapes] = text.split("%");
  const bytes = [plain(start)];
  for (const escape of escapes) {
    if (!/^[0-9A-Fa-f]{2}/.test(escape)) {
      const got = quote(`%${escape.slice(0, 2)}`);
      throw wrong("URL_MALFORMED", name, `must have two hexadecimal digits after each "%", got ${got}`);
    }
    bytes.push(Buffer.from(escape.slice(0, 2), "hex"), plain(escape.slice(2)));
  }
  return Buffer.concat(bytes);
}

/** Node reads each byte of a URL as a character. */
const plain = (text: string): Buffer => Buffer.from(text.replaceAll("+", " "), "latin1");

function requireOneOf(name: string, accepted: readonly string[], got: string | undefined): void {
  if (got === undefined || !accepted.includes(got)) throw invalid(name, `be ${accepted.join(" or ")}`, got);
}

function invalid(name: string, rule: string, got?: string): RestError {
  return wrong("FIELD_INVALID", name, `must ${rule}, got ${got === undefined ? "none" : quote(got)}`);
}

function wrong(
  reason: RestErrorReason,
  name: string,
  problem: string,
  headers: Record<string, string> = {},
): RestError {
  const violations = [{ field: name, description: problem }];
  return new RestError(reason, `the query parameter ${name} ${problem}`, { violations, headers });
}
