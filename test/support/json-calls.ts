// Sends JSON unchanged over each protocol that has JSON, because generated clients can send only valid messages.
import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { errorFromJson } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { once } from "node:events";
import { connect } from "node:http2";
import { gzipSync } from "node:zlib";

interface JsonRequest {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** `/iam.v1alpha.OrgsService/CreateOrg` */
  readonly procedure: string;
  readonly json: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly gzip?: boolean;
}

/** Returns the message of the response, or the first one of a stream. Rejects with the ConnectError in the response. */
type JsonCall = (request: JsonRequest) => Promise<JsonObject>;

/** For unary methods. */
export const unaryCalls: Readonly<Record<string, JsonCall>> = {
  Connect: callConnect,
  "Connect, compressed": (request) => callConnect({ ...request, gzip: true }),
  "gRPC-Web": callGrpcWeb,
  "gRPC-Web, compressed": (request) => callGrpcWeb({ ...request, gzip: true }),
  gRPC: callGrpc,
  "gRPC, compressed": (request) => callGrpc({ ...request, gzip: true }),
};

/** For streaming methods. */
export const streamCalls: Readonly<Record<string, JsonCall>> = {
  Connect: callConnectStream,
  "gRPC-Web": callGrpcWeb,
  gRPC: callGrpc,
};

async function callConnect({ url, procedure, json, headers, gzip = false }: JsonRequest): Promise<JsonObject> {
  const response = await fetch(`${url}${procedure}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", ...(gzip && { "content-encoding": "gzip" }) },
    body: gzip ? gzipSync(json) : json,
  });
  return readConnect(response);
}

/** For unary methods without side effects. */
export async function callConnectGet({ url, procedure, json }: JsonRequest): Promise<JsonObject> {
  const query = new URLSearchParams({ connect: "v1", encoding: "json", message: json });
  return readConnect(await fetch(`${url}${procedure}?${query.toString()}`));
}

async function readConnect(response: Response): Promise<JsonObject> {
  const body = (await response.json()) as JsonObject;
  if (!response.ok) throw errorFromJson(body, response.headers, noError);
  return body;
}

async function callConnectStream(request: JsonRequest): Promise<JsonObject> {
  const envelopes = await postEnvelope(request, "application/connect+json", "connect-content-encoding");
  const { error } = JSON.parse(envelopes.find(({ flags }) => flags === 2)?.text ?? "{}") as JsonObject;
  if (error !== undefined) throw errorFromJson(error, undefined, noError);
  return firstMessage(envelopes);
}

async function callGrpcWeb(request: JsonRequest): Promise<JsonObject> {
  const envelopes = await postEnvelope(request, "application/grpc-web+json", "grpc-encoding");
  const lines =
    envelopes
      .find(({ flags }) => flags === 0x80)
      ?.text.trim()
      .split("\r\n") ?? [];
  const trailers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return readGrpc(trailers, envelopes);
}

async function callGrpc({ url, procedure, json, headers, gzip = false }: JsonRequest): Promise<JsonObject> {
  const session = connect(url);
  try {
    const stream = session.request({
      ...headers,
      ":method": "POST",
      ":path": procedure,
      "content-type": "application/grpc+json",
      te: "trailers",
      ...(gzip && { "grpc-encoding": "gzip" }),
    });
    const trailers = new Headers();
    const collect = (received: Readonly<Record<string, unknown>>): void => {
      for (const [name, value] of Object.entries(received))
        if (!name.startsWith(":")) trailers.set(name, String(value));
    };
    stream.on("response", collect).on("trailers", collect);
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.end(toEnvelope(json, gzip));
    await once(stream, "end");
    return readGrpc(trailers, splitEnvelopes(Buffer.concat(chunks)));
  } finally {
    session.destroy();
  }
}

interface Envelope {
  readonly flags: number;
  readonly text: string;
}

async function postEnvelope(
  { url, procedure, json, headers, gzip = false }: JsonRequest,
  type: string,
  encodingHeader: string,
): Promise<Envelope[]> {
  const response = await fetch(`${url}${procedure}`, {
    method: "POST",
    headers: { ...headers, "content-type": type, ...(gzip && { [encodingHeader]: "gzip" }) },
    body: toEnvelope(json, gzip),
  });
  return splitEnvelopes(Buffer.from(await response.arrayBuffer()));
}

function toEnvelope(json: string, gzip: boolean): Uint8Array<ArrayBuffer> {
  return gzip ? encodeEnvelope(1, new Uint8Array(gzipSync(json))) : encodeEnvelope(0, new TextEncoder().encode(json));
}

function splitEnvelopes(bytes: Buffer): Envelope[] {
  const envelopes: Envelope[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    envelopes.push({ flags: bytes.readUInt8(at), text: bytes.toString("utf8", at + 5, end) });
    at = end;
  }
  return envelopes;
}

function readGrpc(trailers: Headers, envelopes: readonly Envelope[]): JsonObject {
  const error = findTrailerError(trailers);
  if (error !== undefined) throw error;
  if (trailers.get("grpc-status") !== "0") throw noError;
  return firstMessage(envelopes);
}

function firstMessage(envelopes: readonly Envelope[]): JsonObject {
  const message = envelopes.find(({ flags }) => flags === 0);
  if (message === undefined) throw new Error("the answer has no message");
  return JSON.parse(message.text) as JsonObject;
}

const noError = new ConnectError("the answer is none of the protocol", Code.Unknown);
