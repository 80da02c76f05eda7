import { type Socket, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type HttpRequest, responseLength, serialise, statusOf } from "../load-http.ts";

/** The number of answers by their status; "closed" for connections that the server closed. */
export type Answers = Map<string, number>;

interface Busy {
  readonly connections: number;
  /** The address to connect from. */
  readonly localAddress: string;
  readonly signal: AbortSignal;
  readonly answers: Answers;
}

const pauseMs = 50;

/** Keeps a request in flight on each of many connections until the signal is aborted, whatever the answers. */
export async function keepBusy(url: string, next: () => HttpRequest, busy: Busy): Promise<void> {
  await Promise.all(Array.from({ length: busy.connections }, () => keepAsking(url, next, busy)));
}

async function keepAsking(url: string, next: () => HttpRequest, busy: Busy): Promise<void> {
  while (!busy.signal.aborted) {
    await ask(url, next, busy);
    if (busy.signal.aborted) return;
    count(busy.answers, "closed");
    await sleep(pauseMs);
  }
}

/** Sends requests on one connection until it is closed. */
function ask(url: string, next: () => HttpRequest, { localAddress, signal, answers }: Busy): Promise<void> {
  const { hostname, port } = new URL(url);
  const host = `${hostname}:${port}`;
  return new Promise((resolve) => {
    const socket = openFrom(url, localAddress);
    const end = (): void => void socket.destroy();
    const send = (): void => void socket.write(serialise(next(), host));
    let chunks: Buffer[] = [];
    let missing = 0;
    signal.addEventListener("abort", end, { once: true });
    socket.on("error", () => undefined);
    socket.on("connect", send);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      missing -= chunk.length;
      if (missing > 0) return;
      const received = chunks.length === 1 ? chunk : Buffer.concat(chunks);
      chunks = [received];
      const length = responseLength(received);
      missing = length === undefined ? 0 : length - received.length;
      if (length === undefined || missing > 0) return;
      chunks = [];
      count(answers, statusOf(received));
      send();
    });
    socket.on("close", () => {
      signal.removeEventListener("abort", end);
      resolve();
    });
  });
}

/** Connects to the server of a URL from one of this machine's addresses. */
export function openFrom(url: string, localAddress: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  socket.setNoDelay(true);
  return socket;
}

export function count(answers: Answers, what: string): void {
  answers.set(what, (answers.get(what) ?? 0) + 1);
}
