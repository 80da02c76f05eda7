// Connect over GET, for methods without side effects. The message is in the query: `?connect=v1&encoding=json&message=%7B%7D`.
import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { HttpRequest } from "../http/http-messages.ts";
import { queryOf } from "../http/request-path.ts";
import { quote } from "../rest/errors/rest-error.ts";
import { parseBase64 } from "../rest/json/parse-base64.ts";
import type { Encoding } from "./codecs.ts";
import { connectProtocol } from "./connect.ts";
import type { Protocol } from "./protocol.ts";
import { findDecompressor } from "./request-coding.ts";

/** Checks whether a method may be called with GET. */
export function isCalledWithGet({ idempotency }: DescMethod): boolean {
  return idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/** Returns the encoding of the message in the URL of a request; that of errors if it is none of the two. */
export function encodingInUrl(request: HttpRequest): Encoding {
  return queryOf(request).get("encoding") === "proto" ? "proto" : "json";
}

export const connectGetProtocol: Protocol = {
  ...connectProtocol,

  read(request, maxBytes, onRead) {
    const { version, encoding, message, isBase64, compression } = parametersOf(request);
    const bytes = isBase64 ? parseBase64(message ?? "") : Buffer.from(message ?? "");
    const decompress = findDecompressor(compression, "accept-encoding");
    if (version !== "v1") onRead(invalid("connect", "be v1", version));
    else if (encoding !== "json" && encoding !== "proto") onRead(invalid("encoding", "be json or proto", encoding));
    else if (message === null) onRead(invalid("message", "be set, also if the message is empty", message));
    else if (bytes === undefined) onRead(invalid("message", "be in base64 for URLs, because of base64=1", message));
    else if (decompress instanceof ConnectError) onRead(decompress);
    else if (decompress === undefined || bytes.length === 0) onRead(Buffer.from(bytes));
    else decompress(Buffer.from(bytes), maxBytes, onRead);
  },
};

function parametersOf(request: HttpRequest) {
  const query = queryOf(request);
  return {
    version: query.get("connect") ?? "v1",
    encoding: query.get("encoding"),
    message: query.get("message"),
    isBase64: query.get("base64") === "1",
    compression: query.get("compression") ?? undefined,
  };
}

function invalid(parameter: string, rule: string, got: string | null): ConnectError {
  const message = `the query parameter ${parameter} must ${rule}, got ${got === null ? "none" : quote(got)}`;
  return new ConnectError(message, Code.InvalidArgument);
}
