import { type Socket, connect } from "node:net";

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** The position of the status, after `HTTP/1.1 `. */
const statusOffset = 9;

const endOfHead = Buffer.from("\r\n\r\n");

/**
 * Keeps `connections` requests in flight, one per connection, for `forMs` milliseconds. Returns the number of completed
 * requests per second. Uses sockets directly, because Node's own client costs as much as the server under test.
 *
 * @param request the request, or a function that returns the next one.
 * @param onAnswer called with the duration of each request in milliseconds.
 * @throws Error when a response is not 200 or 201.
 */
export async function loadHttp(
  url: string,
  request: HttpRequest | (() => HttpRequest),
  connections: number,
  forMs: number,
  onAnswer?: (ms: number) => void,
): Promise<number> {
  const { hostname, port } = new URL(url);
  const host = `${hostname}:${port}`;
  const bytes = typeof request === "function" ? undefined : serialise(request, host);
  const nextBytes = () => bytes ?? serialise((request as () => HttpRequest)(), host);
  const startedAt = performance.now();
  const answered = await Promise.all(
    Array.from({ length: connections }, () => {
      const socket = connect(Number(port), hostname);
      socket.setNoDelay(true);
      return exchange(socket, nextBytes, startedAt + forMs, onAnswer);
    }),
  );
  const total = answered.reduce((sum, count) => sum + count, 0);
  return total / ((performance.now() - startedAt) / 1000);
}

/** Sends requests until the deadline. Returns the number of responses. */
function exchange(
  socket: Socket,
  nextRequest: () => Buffer,
  deadline: number,
  onAnswer: ((ms: number) => void) | undefined,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let answered = 0;
    let sentAt = 0;
    const send = (): void => {
      const request = nextRequest();
      sentAt = performance.now();
      socket.write(request);
    };
    let received: Buffer = Buffer.alloc(0);
    let usualLength = 0;
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      // Responses to the same request usually have the same length, so most heads need not be parsed.
      const length = received.length === usualLength ? usualLength : responseLength(received);
      if (length === undefined || received.length < length) return;
      usualLength = length;
      if (!["200", "201"].includes(statusOf(received))) {
        socket.destroy();
        reject(new Error(received.toString()));
        return;
      }
      received = received.subarray(length);
      answered++;
      const now = performance.now();
      onAnswer?.(now - sentAt);
      if (now < deadline) {
        send();
        return;
      }
      socket.destroy();
      resolve(answered);
    });
  });
}

/** Returns the status of the first response in the buffer. */
export function statusOf(received: Buffer): string {
  return received.toString("latin1", statusOffset, statusOffset + 3);
}

/** Returns the length of the first response in the buffer; undefined while its head is incomplete. */
export function responseLength(received: Buffer): number | undefined {
  const end = received.indexOf(endOfHead);
  if (end === -1) return undefined;
  const head = received.toString("latin1", 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without a length:\n${head}`);
  return end + endOfHead.length + Number(length);
}

/** Returns the bytes of a request. */
export function serialise({ method, path, headers, body = "" }: HttpRequest, host: string): Buffer {
  const fields = { host, ...headers, ...(body.length > 0 && { "content-length": String(Buffer.byteLength(body)) }) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  const head = `${[`${method} ${path} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(body)]);
}
