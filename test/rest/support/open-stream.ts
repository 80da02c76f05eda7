import http from "node:http";
import http2 from "node:http2";
import type { Readable, Writable } from "node:stream";
import { onTestFinished } from "vitest";
import type { RestHandlerOptions } from "../../../src/rest/rest-handler.ts";
import { listenHttp1, listenHttp2 } from "./listen.ts";

interface Request {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
}

interface Opened {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Fails if the server aborts the response. */
  readonly body: Readable;
}

/** A request in progress. */
interface Sending {
  /** The body of the request. It must be ended, also for a GET. */
  readonly body: Writable;
  readonly opened: Promise<Opened>;
  /** Disconnects in the middle. */
  leave(): void;
}

/** A server, and a client that sends and reads in chunks. Both are closed at the end of the test. */
interface StreamEndpoint {
  send(request: Request): Sending;
  /** Sends a complete request and waits for the head of the response. */
  open(request: Request, body?: string | Buffer): Promise<Opened & { leave(): void }>;
}

export const streamProtocols = { "HTTP/1.1": serveHttp1, "HTTP/2": serveHttp2 } as const;

async function serveHttp1(options: RestHandlerOptions): Promise<StreamEndpoint> {
  const { port } = await listenHttp1(options);
  const agent = new http.Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  return endpoint(({ method = "GET", path, headers }) => {
    const request = http.request({ port, host: "127.0.0.1", method, path, headers: headers ?? {}, agent });
    const opened = new Promise<Opened>((resolve, reject) => {
      request.once("error", reject);
      request.once("response", (response) =>
        resolve({ status: response.statusCode ?? 0, headers: toRecord(response.headers), body: response }),
      );
    });
    return { body: request, opened, leave: () => request.destroy() };
  });
}

export async function serveHttp2(options: RestHandlerOptions): Promise<StreamEndpoint> {
  const { port } = await listenHttp2(options);
  const session = http2.connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  return endpoint(({ method = "GET", path, headers }, endStream) => {
    const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream });
    const opened = new Promise<Opened>((resolve, reject) => {
      stream.once("error", reject);
      stream.once("response", (received) =>
        resolve({ status: Number(received[":status"]), headers: toRecord(received), body: stream }),
      );
    });
    // `close` would end the body first, as if it were complete.
    return { body: stream, opened, leave: () => stream.destroy(new Error("left")) };
  });
}

function endpoint(send: (request: Request, hasNoBody: boolean) => Sending): StreamEndpoint {
  const quiet: typeof send = (request, hasNoBody) => {
    const sending = send(request, hasNoBody);
    // The tests observe a disconnect where they read.
    sending.body.on("error", () => undefined);
    sending.opened.catch(() => undefined);
    return sending;
  };
  return {
    send: (request) => quiet(request, false),
    async open(request, body) {
      const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const headers = { ...request.headers, ...length };
      const { body: sent, opened, leave } = quiet({ ...request, headers }, body === undefined);
      sent.end(body);
      return { ...(await opened), leave };
    },
  };
}

function toRecord(headers: http.IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

export async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
