// Tests that an answer that its client does not read is given up, and one that it reads slowly is not.
import { once } from "node:events";
import { connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { HttpRequest, HttpResponse } from "../../../src/http/http-messages.ts";
import { openRaw } from "../raw-client.ts";
import { startListener } from "../start-listener.ts";

/** More than the buffers of sockets take. */
const large = Buffer.alloc(16 * 1024 * 1024, "x");
const get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

function answerLarge(_request: HttpRequest, response: HttpResponse): void {
  response.end(large);
}

describe("an answer that nobody reads", () => {
  it("is cut on HTTP/1.1, with its connection", async () => {
    const cut = Promise.withResolvers<void>();
    const answer = (request: HttpRequest, response: HttpResponse): void => {
      response.once("close", () => cut.resolve());
      answerLarge(request, response);
    };
    await using server = await startListener(answer, { reads: { unreadMs: 200, msPerKilobyte: 0 } });
    const client = await openRaw(server.port);
    client.socket.pause();
    client.socket.write(get);
    await cut.promise;
    client.socket.resume();
    await client.closed;
    expect(client.received().length).toBeLessThan(large.length);
  });

  it("is cut on HTTP/2, and the other streams of its connection go on", async () => {
    const answer = (request: HttpRequest, response: HttpResponse): void =>
      void response.end(request.url === "/small" ? "small" : large.subarray(0, 1024 * 1024));
    await using server = await startListener(answer, { reads: { unreadMs: 200, msPerKilobyte: 0 } });
    const session = connect(server.url, { settings: { initialWindowSize: 1024 } });
    const unread = session.request({ ":path": "/large" });
    const closed = new Promise((resolve) => unread.once("close", resolve));
    unread.on("error", () => undefined);
    unread.pause();
    await closed;
    expect(unread.rstCode).toBe(8);
    const read = session.request({ ":path": "/small" });
    read.setEncoding("utf8");
    expect(await once(read, "data")).toEqual(["small"]);
    session.destroy();
  });

  it("has the more time the larger it is", async () => {
    await using server = await startListener(answerLarge, { reads: { unreadMs: 50, msPerKilobyte: 1 } });
    const client = await openRaw(server.port);
    client.socket.pause();
    client.socket.write(get);
    await sleep(500);
    client.socket.resume();
    await client.until("\r\n\r\n");
    await expect.poll(() => client.received().length).toBeGreaterThan(large.length);
    client.socket.destroy();
  });
});
