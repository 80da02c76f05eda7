// A receiver of webhooks: a real server on this machine that keeps what it gets, and answers what a test says.
import { once } from "node:events";
import { type IncomingHttpHeaders, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (response: ServerResponse, received: Received) => void;

export interface Receiver {
  readonly url: string;
  /** What it got, in the order in which it came. */
  readonly received: Received[];
  /** How it answers from now on. */
  answer: Answer;
}

export const accept: Answer = (response) => void response.writeHead(204).end();
export const answerWith =
  (status: number, body = ""): Answer =>
  (response) =>
    void response.writeHead(status).end(body);

/** Where webhooks of tests may deliver. */
export const webhookNetworks = ["127.0.0.1/32"];

const path = "/hook";

/** @param atEnd takes what ends it; by default, the test that runs does. */
export async function startReceiver(
  answer: Answer = accept,
  atEnd: (end: () => void) => void = onTestFinished,
): Promise<Receiver> {
  const server = createServer((request, response) => {
    // Of somebody who has called another server at this port before, such as the page of a browser that goes on asking.
    if (!request.url?.startsWith(path)) return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => void chunks.push(chunk));
    request.on("end", () => {
      const received = { headers: request.headers, body: Buffer.concat(chunks).toString("utf8") };
      receiver.received.push(received);
      receiver.answer(response, received);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = { url: `http://127.0.0.1:${port}${path}?source=tenantry`, received: [], answer };
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return receiver;
}
