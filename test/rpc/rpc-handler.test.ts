// RPC as a whole, in front of REST: how calls are answered that no method takes, and how responses end.
import { once } from "node:events";
import { connect, constants } from "node:http2";
import { Code, ConnectError, type Transport, createClient, createContextValues } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Listener, createListener } from "../../src/http/listener/listener.ts";
import { createRestHandler } from "../../src/rest/rest-handler.ts";
import { createRpcHandler } from "../../src/rpc/rpc-handler.ts";
import { createExplainError } from "../../src/rpc/explain-error.ts";
import { ChatService, LibraryService, StreamingService } from "../rest/gen/rest/test/v1/library_pb.ts";

const maxBodyBytes = 200_000;
const limits = {
  maxHeaderBytes: 16_384,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 5_000,
  keepAliveTimeoutMs: 5_000,
  maxConcurrentStreams: 100,
};

let listener: Listener;
let url: string;

beforeAll(async () => {
  const explain = createExplainError(pino({ enabled: false }));
  const handler = createRpcHandler({
    routes(router) {
      router.rpc(LibraryService.method.getBook, () => {
        throw new ConnectError("no such book", Code.NotFound);
      });
      router.rpc(StreamingService.method.countNames, async (requests) => {
        for await (const request of requests) if (request.name === "") break;
        return {};
      });
    },
    longLived() {},
    guards: {
      gate: async () => {},
      slice: () => undefined,
      body: () => ({ maxBytes: maxBodyBytes }),
      errors: (next) => next,
      concurrency: (next) => next,
      streams: (next) => next,
      call: (next) => next,
      explain,
    },
    maxStreamedBytes: maxBodyBytes,
    maxJsonDepth: 100,
    requestTimeoutMs: 5_000,
    fallback: createRestHandler({ routes() {} }),
  });
  listener = createListener({
    handler: (request, response) => handler(request, response, createContextValues()),
    limits,
  });
  url = `http://127.0.0.1:${(await listener.listen(0, "127.0.0.1")).port}`;
});

afterAll(() => listener.close(0));

const options = (httpVersion: "1.1" | "2") => ({ baseUrl: url, httpVersion }) as const;

describe.each<[string, () => Transport]>([
  ["Connect over HTTP/1.1", () => createConnectTransport(options("1.1"))],
  ["Connect in JSON", () => createConnectTransport({ ...options("1.1"), useBinaryFormat: false })],
  ["Connect over HTTP/2", () => createConnectTransport(options("2"))],
  ["gRPC", () => createGrpcTransport({ baseUrl: url })],
  ["gRPC-Web over HTTP/1.1", () => createGrpcWebTransport(options("1.1"))],
  ["gRPC-Web over HTTP/2", () => createGrpcWebTransport(options("2"))],
])("over %s", (_protocol, transport) => {
  const unimplemented = (name: string) => ({
    code: Code.Unimplemented,
    rawMessage: `there is no method "/rest.test.v1.${name}"; /docs and gRPC reflection list the methods`,
  });

  test("an unknown method of a known service is unimplemented", async () => {
    const call = createClient(LibraryService, transport()).deleteBook({});
    await expect(call).rejects.toMatchObject(unimplemented("LibraryService/DeleteBook"));
  });

  test("an unknown stream is unimplemented", async () => {
    const call = createClient(StreamingService, transport()).watch({ name: "one" });
    const read = call[Symbol.asyncIterator]().next();
    await expect(read).rejects.toMatchObject(unimplemented("StreamingService/Watch"));
  });
});

test("an unknown stream in both directions is unimplemented", async () => {
  const client = createClient(ChatService, createGrpcTransport({ baseUrl: url }));
  const requests = (async function* () {
    yield { name: "one" };
  })();
  const read = client.chat(requests)[Symbol.asyncIterator]().next();
  await expect(read).rejects.toMatchObject({
    code: Code.Unimplemented,
    rawMessage: expect.stringContaining("no method"),
  });
});

describe("over Connect", () => {
  const path = "/rest.test.v1.LibraryService/DeleteBook";

  test("an unknown method has the status 404", async () => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "connect-protocol-version": "1", "content-type": "application/json" },
      body: "{}",
    });
    expect([response.status, await response.json()]).toEqual([404, expect.objectContaining({ code: "unimplemented" })]);
  });

  test.each(["2", "", "1, 1"])("the version %j of the protocol has the status 400", async (version) => {
    const response = await fetch(`${url}/rest.test.v1.LibraryService/GetBook`, {
      method: "POST",
      headers: { "connect-protocol-version": version, "content-type": "application/json" },
      body: "{}",
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        code: "invalid_argument",
        message: `the header Connect-Protocol-Version must be 1, got ${JSON.stringify(version)}`,
      },
    ]);
  });

  test("another version of the protocol ends a stream with an error", async () => {
    const headers = { "connect-protocol-version": "2", "content-type": "application/connect+json" };
    const procedure = `${url}/rest.test.v1.StreamingService/CountNames`;
    const response = await fetch(procedure, { method: "POST", headers, body: new Uint8Array(5) });
    const end = Buffer.from(await response.arrayBuffer())
      .subarray(5)
      .toString();
    expect([response.status, JSON.parse(end)]).toMatchObject([200, { error: { code: "invalid_argument" } }]);
  });

  test.each([{ "connect-protocol-version": "1" }, {}])("a call with the headers %j is served", async (version) => {
    const response = await fetch(`${url}/rest.test.v1.LibraryService/GetBook`, {
      method: "POST",
      headers: { ...version, "content-type": "application/json" },
      body: "{}",
    });
    expect(await response.json()).toEqual({ code: "not_found", message: "no such book" });
  });

  test("a call that is no POST has the status 405", async () => {
    const headers = { "connect-protocol-version": "1", "content-type": "application/proto" };
    const response = await fetch(`${url}/rest.test.v1.LibraryService/GetBook`, { method: "DELETE", headers });
    expect([response.status, response.headers.get("allow"), await response.json()]).toEqual([
      405,
      "POST, OPTIONS",
      { code: "unknown", message: 'this method is called with POST, got "DELETE"' },
    ]);
  });

  test("what is no call has the errors of REST", async () => {
    const bodyOf = async (name: string, method: string) =>
      (await fetch(`${url}/rest.test.v1.LibraryService/${name}`, { method })).json();
    expect(await bodyOf("GetBook", "GET")).toMatchObject({ error: { code: 405 } });
    for (const method of ["GET", "POST"]) {
      expect(await bodyOf("DeleteBook", method)).toMatchObject({ error: { code: 404 } });
    }
  });
});

describe("over HTTP/2", () => {
  test("streams that are refused before they are read do not take the window of their connection", async () => {
    const session = connect(url);
    onTestFinished(() => session.destroy());
    const path = "/rest.test.v1.StreamingService/CountNames";
    const frame = Buffer.alloc(maxBodyBytes + 5);
    frame.writeUInt32BE(maxBodyBytes + 1, 1);
    // Together, they are several times as long as the window.
    for (let sent = 0; sent < 20; sent++) {
      const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
      const closed = once(stream, "close");
      stream.write(frame);
      stream.resume();
      const [trailers] = (await once(stream, "trailers")) as [Record<string, unknown>];
      expect(trailers["grpc-status"]).toBe(String(Code.ResourceExhausted));
      await closed;
      expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    }
  });
});
