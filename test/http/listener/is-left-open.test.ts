// Tests that a stream of HTTP/2 is over when nothing more can come of it, also where Node waits for something.
import { once } from "node:events";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { describe, expect, it } from "vitest";
import { type HttpHandler, type HttpResponse, isHttp2 } from "../../../src/http/http-messages.ts";
import { startListener } from "../start-listener.ts";

interface Exchange {
  readonly handler: HttpHandler;
  /** Makes a request. The promise resolves when the client has done with it. */
  readonly request: (session: ClientHttp2Session) => Promise<unknown>;
}

const exchanges: Readonly<Record<string, Exchange>> = {
  "whose client resets it without an error before it has read the response": {
    handler: (_request, response) => void response.end("small"),
    async request(session) {
      const stream = session.request({ ":path": "/" });
      await once(stream, "response");
      stream.close(constants.NGHTTP2_NO_ERROR);
      await once(stream, "close");
    },
  },
  "with a body of which only a part was read": {
    handler: (request, response) =>
      void request.once("data", () => {
        request.pause();
        response.end();
      }),
    async request(session) {
      const stream = session.request({ ":path": "/", ":method": "POST" });
      stream.resume().end(Buffer.alloc(100_000));
      await once(stream, "close");
    },
  },
};

describe.each(Object.entries(exchanges))("a stream %s", (_name, { handler, request }) => {
  it.each(["goes on", "ends"])("is over, and its connection %s", async (next) => {
    const open = new Set<HttpResponse>();
    const counted: HttpHandler = (each, response) => {
      open.add(response);
      response.on("close", () => open.delete(response));
      return handler(each, response);
    };
    const isGone = (response: HttpResponse): boolean => isHttp2(response) && response.stream.closed;
    await using server = await startListener(counted, { reads: { unreadMs: 2_000, msPerKilobyte: 0 } });
    const session = connect(server.url, { settings: { initialWindowSize: 0 } });
    await request(session);
    await expect.poll(() => [...open].every(isGone)).toBe(true);
    if (next === "ends") session.destroy();
    await expect.poll(() => open.size).toBe(0);
    expect(session.destroyed).toBe(next === "ends");
    session.destroy();
  });
});
