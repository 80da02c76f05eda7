import { type Socket, connect } from "node:net";

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** After `HTTP/1.1`. */
const statusOffset = 8;

const endOfHead = Buffer.from("\r\n\r\n");

/**
 * Keeps `connections` requests under way, one a connection, for `forMs` milliseconds; answers how many a second were
 * answered. On bare sockets: a client of Node's own costs as much as the server that it measures.
 *
 * @param onAnswer told how many milliseconds each answer took.
 * @throws Error when an answer is not 200.
 */
export async function loadHttp(
  url: string,
  request: HttpRequest,
  connections: number,
  forMs: number,
  onAnswer?: (ms: number) => void,
): Promise<number> {
  const { hostname, port } = new URL(url);
  const bytes = serialise(request, `${hostname}:${port}`);
  const startedAt = performance.now();
  const answered = await Promise.all(
    Array.from({ length: connections }, () => {
      const socket = connect(Number(port), hostname);
      socket.setNoDelay(true);
      return exchange(socket, bytes, startedAt + forMs, onAnswer);
    }),
  );
  const total = answered.reduce((sum, count) => sum + count, 0);
  return total / ((performance.now() - startedAt) / 1000);
}

/** Sends the request again whenever it was answered, until the deadline; answers how often it was. */
function exchange(
  socket: Socket,
  request: Buffer,
  deadline: number,
  onAnswer: ((ms: number) => void) | undefined,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let answered = 0;
    let sentAt = 0;
    const send = (): void => {
      sentAt = performance.now();
      socket.write(request);
    };
    let received: Buffer = Buffer.alloc(0);
    let usualLength = 0;
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      // Answers to the same request are as long as each other, which saves reading the head of each.
      const length = received.length === usualLength ? usualLength : responseLength(received);
      if (length === undefined || received.length < length) return;
      usualLength = length;
      if (received.indexOf(" 200 ", 0, "latin1") !== statusOffset) {
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

/** The bytes of the first response in the buffer; undefined while its head is not complete. */
function responseLength(received: Buffer): number | undefined {
  const end = received.indexOf(endOfHead);
  if (end === -1) return undefined;
  const head = received.toString("latin1", 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without a length:\n${head}`);
  return end + endOfHead.length + Number(length);
}

function serialise({ method, path, headers, body = "" }: HttpRequest, host: string): Buffer {
  const fields = { host, ...headers, ...(body !== "" && { "content-length": String(Buffer.byteLength(body)) }) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`${[`${method} ${path} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n${body}`);
}
