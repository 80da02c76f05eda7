import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { HttpHandler } from "../../../src/http/http-messages.ts";
import { lingerMs } from "../../../src/http/listener/close-in-stages.ts";
import { startListener } from "../start-listener.ts";

const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 16000000\r\n\r\n";
const part = Buffer.alloc(4_000_000, "a");

/** Responds to the head of a request. */
const answerEarly: HttpHandler = (_request, response) => {
  if (!("stream" in response)) response.shouldKeepAlive = false;
  response.end("refused");
};

/** Opens a connection that reads nothing before it has sent everything. */
async function openUnread(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.pause();
  // Sending and reading fail as well.
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** Sends bytes, and waits until the system has taken them. */
async function send(socket: Socket, bytes: string | Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** @throws when the connection is reset. */
async function readToEnd(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

/**
 * Sends a request whose response precedes its body, in parts.
 *
 * @returns the response; undefined if a busy machine took longer for it than the server waits.
 * @throws when the connection is reset before that.
 */
async function sendInParts(port: number): Promise<string | undefined> {
  const socket = await openUnread(port);
  const began = performance.now();
  try {
    await send(socket, head);
    // The server has responded, and closed its side. A write fails when one before it was answered with a reset.
    for (let sent = 0; sent < 4; sent++) {
      await send(socket, part);
      await sleep(50);
    }
    return await readToEnd(socket);
  } catch (error) {
    if (performance.now() - began < lingerMs) throw error;
    return undefined;
  } finally {
    socket.destroy();
  }
}

describe("a response that precedes the body", () => {
  test.each([
    ["nothing reads", answerEarly],
    [
      "a handler has begun to read, and waits with",
      (request, response) => {
        request.on("data", () => {
          request.pause();
          void answerEarly(request, response);
        });
      },
    ],
    [
      "a handler reads in pieces of its own",
      (request, response) => {
        request.on("readable", () => void answerEarly(request, response));
      },
    ],
  ] satisfies [string, HttpHandler][])(
    "reaches a client that is still sending a body that %s",
    async (_title, handler) => {
      await using server = await startListener(handler);
      let response: string | undefined;
      while (response === undefined) response = await sendInParts(server.port);
      expect(response).toMatch(/^HTTP\/1.1 200 [^]*refused/);
      expect(server.errors).toEqual([]);
    },
  );

  test("is the last one: a request after it is not served", async () => {
    const served: (string | undefined)[] = [];
    await using server = await startListener((request, response) => {
      served.push(request.url);
      void answerEarly(request, response);
    });
    const socket = await openUnread(server.port);
    await send(socket, head);
    await sleep(50);
    const rest = `${part.toString().repeat(4)}POST /next HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`;
    // Input that nobody reads may reset the connection, which may also have closed by now.
    await send(socket, rest).catch(() => undefined);
    await readToEnd(socket).catch(() => undefined);
    socket.destroy();
    await sleep(50);
    expect(served).toEqual(["/"]);
  });

  test("ends the connection of a client that goes on sending", async () => {
    await using server = await startListener(answerEarly);
    const socket = await openUnread(server.port);
    await send(socket, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const sending = setInterval(() => socket.write("1\r\na\r\n"), 10);
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(sending);
  });
});
