// A client of gRPC for most tests. It sends what the one of Connect sends, which makes several streams of each message, and links signals
// for each call: in the process of the service, that takes as much time as the service does.
import { once } from "node:events";
import type { ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import { type DescMessage, type MessageShape, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { validateResponse, validateTrailer } from "@connectrpc/connect/protocol-grpc";
import { Http2SessionManager, createGrpcTransport } from "@connectrpc/connect-node";

/**
 * The connection to each server. All callers of a file share it, as calls of several users share that of a backend: to open one takes
 * longer than a call, and each that stays open costs memory until the worker ends.
 */
const managers = new Map<string, Http2SessionManager>();

function sessionsOf(baseUrl: string): Http2SessionManager {
  const manager = managers.get(baseUrl) ?? new Http2SessionManager(baseUrl);
  managers.set(baseUrl, manager);
  return manager;
}

/**
 * Creates a transport like `createGrpcTransport`, which it uses for streams, and for calls with a deadline, a signal or context values.
 *
 * @param interceptors add the API key where that is used.
 */
export function createTestGrpcTransport(
  baseUrl: string,
  apiKey: string | undefined,
  interceptors: Interceptor[],
): Transport {
  const sessionManager = sessionsOf(baseUrl);
  const usual = createGrpcTransport({ baseUrl, sessionManager, interceptors });
  return {
    stream: usual.stream,
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      if (signal !== undefined || timeoutMs !== undefined || contextValues !== undefined)
        return usual.unary(method, signal, timeoutMs, header, input, contextValues);
      const headers = {
        "content-type": "application/grpc+proto",
        te: "trailers",
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...Object.fromEntries(new Headers(header)),
      };
      const body = toEnvelope(toBinary(method.input, create(method.input, input)));
      const path = `/${method.parent.typeName}/${method.name}`;
      const answer = await exchange(sessionManager, path, headers, body);
      const { headerError } = validateResponse(answer.status, answer.header);
      validateTrailer(answer.trailer, answer.header);
      if (headerError !== undefined) throw headerError;
      return {
        stream: false,
        service: method.parent,
        method,
        header: answer.header,
        trailer: answer.trailer,
        message: readEnvelope(method.output, answer.body),
      };
    },
  };
}

interface Answer {
  readonly status: number;
  readonly header: Headers;
  readonly trailer: Headers;
  readonly body: Buffer;
}

async function exchange(
  sessions: Http2SessionManager,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Promise<Answer> {
  try {
    const stream = await sessions.request("POST", path, headers, {});
    stream.end(body);
    return await readAnswer(stream);
  } catch (error) {
    throw toConnectError(error);
  }
}

async function readAnswer(stream: ClientHttp2Stream): Promise<Answer> {
  const chunks: Buffer[] = [];
  let status = 0;
  let [header, trailer] = [new Headers(), new Headers()];
  stream.on("response", (received) => {
    status = received[":status"] ?? 0;
    header = toHeaders(received);
  });
  stream.on("trailers", (received) => void (trailer = toHeaders(received)));
  stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
  await once(stream, "close");
  const code = codeOfReset(stream.rstCode ?? 0);
  if (code !== undefined) throw new ConnectError(`http/2 stream closed with error code ${stream.rstCode}`, code);
  if (status === 0) throw new ConnectError("the stream closed without an answer", Code.Internal);
  return { status, header, trailer, body: Buffer.concat(chunks) };
}

function toHeaders(received: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    if (name.startsWith(":")) continue;
    for (const each of [value ?? []].flat()) headers.append(name, each);
  }
  return headers;
}

/** A byte of flags, the length, and the message. */
function toEnvelope(message: Uint8Array): Uint8Array {
  const envelope = Buffer.alloc(5 + message.length);
  envelope.writeUInt32BE(message.length, 1);
  envelope.set(message, 5);
  return envelope;
}

function readEnvelope<Desc extends DescMessage>(desc: Desc, bytes: Buffer): MessageShape<Desc> {
  if (bytes.length < 5 || bytes[0] !== 0 || bytes.length !== 5 + bytes.readUInt32BE(1))
    throw new ConnectError("the answer is not one message without compression", Code.Internal);
  return fromBinary(desc, bytes.subarray(5));
}

/** The codes of gRPC for errors of HTTP/2 (PROTOCOL-HTTP2.md, "Errors"). */
function codeOfReset(code: number): Code | undefined {
  // No error, and STREAM_CLOSED.
  if (code === 0 || code === 5) return undefined;
  const codes: Readonly<Record<number, Code>> = {
    7: Code.Unavailable,
    8: Code.Canceled,
    11: Code.ResourceExhausted,
    12: Code.PermissionDenied,
    13: Code.PermissionDenied,
  };
  return codes[code] ?? Code.Internal;
}

/** Gives errors of connections the codes that the client of Connect gives them. */
function toConnectError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  const causes: string[] = [];
  for (let each = error; each instanceof Error; each = each.cause)
    causes.push((each as NodeJS.ErrnoException).code ?? "");
  const has = (...codes: readonly string[]): boolean => codes.some((code) => causes.includes(code));
  if (has("ERR_STREAM_WRITE_AFTER_END", "ERR_STREAM_DESTROYED", "ERR_HTTP2_INVALID_STREAM", "ECONNRESET"))
    return ConnectError.from(error, Code.Aborted);
  if (has("ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED")) return ConnectError.from(error, Code.Unavailable);
  return ConnectError.from(error, Code.Internal);
}
