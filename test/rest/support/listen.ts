import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { createRestHandler, type RestHandlerOptions } from "../../../src/rest/rest-handler.ts";

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly bytes: Buffer;
  /** The `error` of the body of an error response. */
  readonly error: { code: number; status: string; message: string; details: Record<string, unknown>[] };
}

interface Request {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** A server and a function that calls it. The server is closed at the end of the test. */
export interface Endpoint {
  readonly port: number;
  call(request: Request): Promise<Answer>;
}

export const protocols = { "HTTP/1.1": listenHttp1, "HTTP/2": listenHttp2 } as const;

/** Serves on a real socket with node:http. */
export async function listenHttp1(options: RestHandlerOptions): Promise<Endpoint> {
  const server = http.createServer(createRestHandler(options));
  const port = await listen(server);
  onTestFinished(() => server.closeAllConnections());
  return { port, call: (request) => callHttp1(port, request) };
}

/** Serves on a real socket with node:http2. */
export async function listenHttp2(options: RestHandlerOptions): Promise<Endpoint> {
  const server = http2.createServer(createRestHandler(options));
  const port = await listen(server);
  const session = http2.connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  return { port, call: (request) => callHttp2(session, request) };
}

async function listen(server: http.Server | http2.Http2Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

function callHttp1(port: number, { method = "GET", path, headers, body }: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const isChunked = headers?.["transfer-encoding"] !== undefined;
    const length = body === undefined || isChunked ? {} : { "content-length": Buffer.byteLength(body) };
    const sent = { ...headers, ...length };
    const request = http.request({ port, host: "127.0.0.1", method, path, headers: sent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(toAnswer(response.statusCode ?? 0, response.headers, chunks)));
    });
    request.on("error", reject);
    request.end(body);
  });
}

function callHttp2(
  session: http2.ClientHttp2Session,
  { method = "GET", path, headers, body }: Request,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: body === undefined });
    let answered: http2.IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    stream.on("response", (received) => (answered = received));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => resolve(toAnswer(Number(answered[":status"]), answered, chunks)));
    stream.on("error", reject);
    if (body !== undefined) stream.end(body);
  });
}

function toAnswer(status: number, received: http.IncomingHttpHeaders, chunks: Buffer[]): Answer {
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString();
  const headers = Object.fromEntries(Object.entries(received).map(([name, value]) => [name, String(value)]));
  return {
    status,
    headers,
    text,
    bytes,
    get error(): Answer["error"] {
      const parsed: { error: Answer["error"] } = JSON.parse(text);
      return parsed.error;
    },
  };
}
