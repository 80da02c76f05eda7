import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextKey, createContextValues, type ServiceImpl } from "@connectrpc/connect";
import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { describe, expect, test } from "vitest";
import type { RestHandlerOptions } from "../../src/rest/rest-handler.ts";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { LibraryService } from "./gen/rest/test/v1/library_pb.ts";
import { listenHttp1, listenHttp2, protocols } from "./support/listen.ts";

type Library = Partial<ServiceImpl<typeof LibraryService>>;

/** Routes with the methods that a test implements. */
function libraryWith(implementation: Library): RestHandlerOptions["routes"] {
  return (router) => router.service(LibraryService, implementation);
}

const library: Library = {
  getBook: ({ name }) => ({ name, title: "War and Peace" }),
  listBooks: () => ({ shelves: [{ name: 1n }, { name: 2n }] }),
  createBook: ({ book }) => book ?? {},
  updateBook: (request) => request,
  deleteBook: () => ({}),
  moveBook: ({ path }) => ({ path }),
  getCover: () => ({ contentType: "image/png", data: new Uint8Array([1, 2, 3]) }),
  upload: (request) => request,
};

describe.each(Object.entries(protocols))("over %s", (_name, listen) => {
  test("responds to a GET with JSON in proto names", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    const answer = await call({ path: "/v1/shelves/1/books/a%20b" });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.headers["content-length"]).toBe(String(answer.text.length));
    expect(JSON.parse(answer.text)).toEqual({ name: "shelves/1/books/a b", title: "War and Peace" });
  });

  test("responds to HEAD as to GET, without the body", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    const answer = await call({ method: "HEAD", path: "/v1/shelves/1/books/2" });
    expect([answer.status, answer.text]).toEqual([200, ""]);
    expect(Number(answer.headers["content-length"])).toBeGreaterThan(10);
  });

  test("binds the body to its field, and path and query to the others", async () => {
    const { call } = await listen({
      routes: libraryWith({
        ...library,
        createBook: ({ parent, requestId, book }) => ({ title: book?.title ?? "", path: parent, name: requestId }),
      }),
    });
    const body = JSON.stringify({ title: "Dead Souls" });
    const answer = await call({ method: "POST", path: "/v1/shelves/1/books?request_id=r+1", body });
    expect(JSON.parse(answer.text)).toEqual({ title: "Dead Souls", path: "shelves/1", name: "r 1" });
  });

  test("returns a response_body, an Empty and an HttpBody", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    expect((await call({ path: "/v1/shelves/1/books" })).text).toBe('[{"name":"1"},{"name":"2"}]');
    expect(await call({ method: "DELETE", path: "/v1/shelves/1/books/2" })).toMatchObject({ status: 204, text: "" });
    const cover = await call({ path: "/v1/shelves/1/books/2/cover" });
    expect([cover.headers["content-type"], cover.text]).toEqual(["image/png", "\u0001\u0002\u0003"]);
  });

  test("accepts any body for an HttpBody", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    const headers = { "content-type": "text/plain" };
    const answer = await call({ method: "POST", path: "/v1/files/a/b:upload", headers, body: "hello" });
    const file = { content_type: "text/plain", data: "aGVsbG8=" };
    expect(JSON.parse(answer.text)).toEqual({ filename: "files/a/b", file });
  });

  test("infers the update mask of a PATCH from its body, unless the query sets it", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    const patch = async (query: string): Promise<unknown> => {
      const body = JSON.stringify({ title: null, publisher: { cityName: "Ulm" }, labels: { a: "b" } });
      const answer = await call({ method: "PATCH", path: `/v1/shelves/1/books/2${query}`, body });
      const parsed: { update_mask?: unknown } = JSON.parse(answer.text);
      return parsed.update_mask;
    };
    expect(await patch("")).toBe("title,publisher.cityName,labels");
    expect(await patch("?update_mask=*")).toBe("*");
    expect(await patch("?updateMask=title,description")).toBe("title,description");
  });

  test("lists the allowed methods in a 405 and in the response to OPTIONS", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    const refused = await call({ method: "PUT", path: "/v1/shelves/1/books" });
    expect(refused.status).toBe(405);
    expect(refused.headers["allow"]).toBe("GET, POST, HEAD, OPTIONS");
    expect(refused.error).toMatchObject({ code: 405, status: "UNIMPLEMENTED" });
    const options = await call({ method: "OPTIONS", path: "/v1/shelves/1/books" });
    expect([options.status, options.headers["allow"]]).toEqual([204, "GET, POST, HEAD, OPTIONS"]);
  });

  test("responds with 404 and the configured error domain to an unknown path", async () => {
    const { call } = await listen({ routes: libraryWith(library), errorDomain: "library.test" });
    const { status, error } = await call({ path: "/v2/nothing" });
    expect(status).toBe(404);
    expect(error).toMatchObject({ code: 404, status: "NOT_FOUND", message: 'nothing is served at "/v2/nothing"' });
    expect(error.details).toEqual([
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "ROUTE_NOT_FOUND", domain: "library.test" },
    ]);
  });

  test("passes unknown paths to the fallback", async () => {
    const { call } = await listen({
      routes: libraryWith(library),
      fallback: (_request, response) => void response.end("elsewhere"),
    });
    expect((await call({ path: "/index.html" })).text).toBe("elsewhere");
  });

  test("rejects a body that is too long, with or without a content length", async () => {
    const { call } = await listen({ routes: libraryWith(library), maxBodyBytes: 100 });
    const body = JSON.stringify({ title: "x".repeat(200) });
    const path = "/v1/shelves/1/books";
    for (const headers of [{ "content-length": String(body.length) }, { "transfer-encoding": "chunked" }]) {
      if (listen === listenHttp2 && "transfer-encoding" in headers) continue;
      const answer = await call({ method: "POST", path, headers, body });
      expect(answer.status).toBe(413);
      expect(answer.error).toMatchObject({ code: 413, status: "RESOURCE_EXHAUSTED" });
    }
  });

  test.each([
    ["text/plain", 415],
    ["application/json; charset=latin1", 415],
    ["application/json; charset=utf-8", 201],
    ["Application/JSON;charset=UTF-8", 201],
  ])("responds to a body of type %s with %i", async (type, status) => {
    const { call } = await listen({ routes: libraryWith(library) });
    const headers = { "content-type": type };
    const answer = await call({ method: "POST", path: "/v1/shelves/1/books", headers, body: "{}" });
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.error.message).toContain("must be application/json");
  });

  test("rejects a body of a method without one, unless it is empty", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    const path = "/v1/shelves/1/books/2";
    expect((await call({ method: "DELETE", path, body: "{}" })).error.details[0]).toMatchObject({
      reason: "BODY_NOT_ALLOWED",
    });
    expect((await call({ method: "DELETE", path, body: "" })).status).toBe(204);
  });

  test.each([
    ["is nested too deeply", `{"title":${"[".repeat(100_000)}`, "nests deeper than 100 levels"],
    ["is not JSON", '{"title":', "is not JSON"],
    ["has a duplicate key", '{"title":"a","\\u0074itle":"b"}', 'the key "title" twice'],
    ["is not UTF-8", Buffer.from([0x22, 0xc3, 0x28, 0x22]), "is not UTF-8 near byte 2"],
  ])("rejects a body that %s", async (_problem, body, message) => {
    const { call } = await listen({ routes: libraryWith(library) });
    const answer = await call({ method: "POST", path: "/v1/shelves/1/books", body });
    expect(answer.status).toBe(400);
    expect(answer.error.message).toContain(message);
    expect(answer.error.details[0]).toMatchObject({ reason: "BODY_MALFORMED" });
  });

  test("accepts a byte order mark", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    const answer = await call({ method: "POST", path: "/v1/shelves/1/books", body: '\ufeff{"title":"a"}' });
    expect(JSON.parse(answer.text)).toEqual({ title: "a" });
  });

  test("names each invalid field of a body by its path", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    const body = JSON.stringify({
      title: 5,
      labels: { a: 1 },
      editions: [{ yearBorn: 1 }, { yearBorn: "x" }],
      create_time: "yesterday",
      isbn: "y".repeat(5000),
      __proto__x: 1,
    });
    const { error } = await call({ method: "POST", path: "/v1/shelves/1/books", body });
    const violations = error.details[1]?.["field_violations"];
    expect(violations).toEqual([
      { field: "title", description: "must be a string, got 5" },
      { field: 'labels["a"]', description: "must be a string, got 1" },
      {
        field: "editions[1].yearBorn",
        description: 'must be a whole number from -9223372036854775808 to 9223372036854775807, got "x"',
      },
      { field: "create_time", description: 'must be a time such as 2026-01-31T12:00:00Z, got "yesterday"' },
      {
        field: "isbn",
        description:
          "is not a field of rest.test.v1.Book; its fields are name, author, title, authorInfo, description, labels, editions, create_time, path, publisher",
      },
      { field: "__proto__x", description: "is not a field of rest.test.v1.Book" },
    ]);
  });

  test("says of a field of the request that is in the body, which is another one, where it belongs", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    const body = JSON.stringify({ request_id: "1", bookId: "2", book: { name: "3" }, author: { book_id: "4" } });
    const { error } = await call({ method: "POST", path: "/v1/shelves/1/books", body });
    expect(error.details[1]?.["field_violations"]).toEqual([
      { field: "request_id", description: "is not a field of rest.test.v1.Book, but a parameter of the URL" },
      { field: "bookId", description: "is not a field of rest.test.v1.Book, but a parameter of the URL" },
      {
        field: "book",
        description: "is not a field of rest.test.v1.Book, but the whole body: send the fields that are in it",
      },
      { field: "author", description: "must be a string, got an object" },
    ]);
  });

  test("rejects values that contradict the path", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    const path = "/v1/shelves/1/books/2:move";
    const move = (body: object): Promise<{ status: number }> =>
      call({ method: "POST", path, body: JSON.stringify(body) });
    expect((await move({ path: "shelves/9/books/9" })).status).toBe(400);
    expect((await move({ path: "shelves/1/books/2" })).status).toBe(200);
    expect((await call({ path: "/v1/shelves/1/books/2?name=shelves/1/books/3" })).status).toBe(400);
    expect((await call({ path: "/v1/shelves/1/books/2?name=shelves/1/books/2" })).status).toBe(200);
  });

  test("serves custom HTTP methods of additional bindings", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    const answer = await call({ method: "MOVE", path: "/v1/shelves/1/books/2", body: "{}" });
    expect(JSON.parse(answer.text)).toEqual({ path: "shelves/1/books/2" });
  });

  test.each([
    ["/v1/shelves/%zz/books/2", "the path is broken at character 12"],
    ["/v1/shelves/%ff/books/2", "is not UTF-8"],
    ["/v1/shelves/1/books?request_id=%f", 'query parameter "request_id=%f"'],
  ])("describes the error in %s", async (path, message) => {
    const { call } = await listen({ routes: libraryWith(library) });
    const answer = await call({ path });
    expect(answer.status).toBe(400);
    expect(answer.error.message).toContain(message);
    expect(answer.error.details[0]).toMatchObject({ reason: "URL_MALFORMED" });
  });

  test("names each invalid query parameter", async () => {
    const { call } = await listen({ routes: libraryWith(library) });
    const { error } = await call({
      path: "/v1/shelves/1/books?shelf=x&shlef=1&book=1&__proto__=1&book.labels[a]=1&book.labels[a]=2",
    });
    expect(error.details[1]?.["field_violations"]).toEqual([
      { field: "shelf", description: expect.stringContaining("must be a whole number") },
      {
        field: "shlef",
        description:
          "is not a parameter: rest.test.v1.CreateBookRequest has no such field; its fields are parent, shelf, book, book_id, request_id",
      },
      { field: "book", description: "is a message: give its fields, such as book.name" },
      {
        field: "__proto__",
        description:
          "is not a parameter: rest.test.v1.CreateBookRequest has no such field; its fields are parent, shelf, book, book_id, request_id",
      },
      { field: "book.labels", description: 'has the key "a" twice' },
    ]);
  });

  test("ignores unknown fields if configured", async () => {
    const { call } = await listen({ routes: libraryWith(library), ignoreUnknownFields: true });
    const body = JSON.stringify({ title: "a", isbn: 1 });
    const answer = await call({ method: "POST", path: "/v1/shelves/1/books?alt=json", body });
    expect(JSON.parse(answer.text)).toEqual({ title: "a" });
  });

  test("returns the error of a method with its details and metadata", async () => {
    const { call } = await listen({
      routes: libraryWith({
        getBook() {
          const value = create(ErrorInfoSchema, { reason: "TOKEN_MISSING", domain: "library.test" });
          const metadata = { "www-authenticate": "Bearer" };
          throw new ConnectError("who are you?", Code.Unauthenticated, metadata, [{ desc: ErrorInfoSchema, value }]);
        },
      }),
    });
    const answer = await call({ path: "/v1/shelves/1/books/2" });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
    expect(answer.error).toEqual({
      code: 401,
      status: "UNAUTHENTICATED",
      message: "who are you?",
      details: [
        { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "TOKEN_MISSING", domain: "library.test" },
      ],
    });
  });

  test("does not reveal the messages of other errors", async () => {
    const { call } = await listen({
      routes: libraryWith({
        getBook() {
          throw new TypeError("password is hunter2");
        },
      }),
    });
    const answer = await call({ path: "/v1/shelves/1/books/2" });
    expect([answer.status, answer.error.status]).toEqual([500, "INTERNAL"]);
    expect(answer.text).not.toContain("hunter2");
  });

  test("passes every error through mapError, and handles a mapError that throws", async () => {
    const { call } = await listen({
      routes: libraryWith(library),
      mapError(error, request) {
        if (request.url === "/throw") throw new Error("hunter2");
        error.metadata.set("x-request-id", "r1");
        return error;
      },
    });
    const missing = await call({ method: "PUT", path: "/v1/shelves/1/books" });
    expect([missing.status, missing.headers["x-request-id"]]).toEqual([405, "r1"]);
    expect((await call({ path: "/throw" })).status).toBe(500);
  });

  test("passes request headers to interceptors, and sends response headers", async () => {
    const key = createContextKey("nobody");
    const { call } = await listen({
      routes: libraryWith({
        getBook: (_request, context) => {
          context.responseHeader.set("etag", '"1"');
          context.responseHeader.append("set-cookie", "a=1");
          context.responseHeader.append("set-cookie", "b=2");
          return { title: context.values.get(key) };
        },
      }),
      contextValues: () => createContextValues().set(key, "somebody"),
      interceptors: [
        (next) => async (request) => {
          expect(request.header.get("Authorization")).toBe("Bearer t");
          expect(request.header.get(":path")).toBeNull();
          expect(new Headers(request.header).get("authorization")).toBe("Bearer t");
          expect(request.header).toBeInstanceOf(Headers);
          expect(new URL(request.url).pathname).toBe("/v1/shelves/1/books/2");
          return next(request);
        },
      ],
    });
    const answer = await call({ path: "/v1/shelves/1/books/2", headers: { authorization: "Bearer t" } });
    expect(JSON.parse(answer.text)).toEqual({ title: "somebody" });
    expect(answer.headers).toMatchObject({ etag: '"1"', "set-cookie": "a=1,b=2" });
  });

  test("ends a call at its deadline", async () => {
    let reason: unknown;
    const { call } = await listen({
      timeoutMs: 500,
      routes: libraryWith({
        getBook: (_request, context) =>
          new Promise<never>((_resolve, reject) => {
            context.signal.addEventListener("abort", () => {
              reason = context.signal.reason;
              reject(new Error("aborted"));
            });
          }),
      }),
    });
    const answer = await call({ path: "/v1/shelves/1/books/2" });
    expect([answer.status, answer.error.status]).toEqual([504, "DEADLINE_EXCEEDED"]);
    expect(ConnectError.from(reason).code).toBe(Code.DeadlineExceeded);
  });
});

test("aborts the call when an HTTP/1.1 client disconnects", async () => {
  const { routes, started, aborted } = hangingLibrary();
  const { port } = await listenHttp1({ routes });
  const socket = net.connect(port, "127.0.0.1");
  socket.write("GET /v1/shelves/1/books/2 HTTP/1.1\r\nHost: test\r\n\r\n");
  await started;
  socket.destroy();
  expect((await aborted).code).toBe(Code.Canceled);
});

test("aborts the call when an HTTP/2 client resets its stream", async () => {
  const { routes, started, aborted } = hangingLibrary();
  const { port } = await listenHttp2({ routes });
  const session = http2.connect(`http://127.0.0.1:${port}`);
  const stream = session.request({ ":path": "/v1/shelves/1/books/2" });
  await started;
  stream.close(http2.constants.NGHTTP2_CANCEL);
  expect((await aborted).code).toBe(Code.Canceled);
  session.destroy();
});

test("stops reading a slow body at the deadline", async () => {
  const { port } = await listenHttp1({ routes: libraryWith(library), timeoutMs: 50 });
  const socket = net.connect(port, "127.0.0.1");
  socket.write("POST /v1/shelves/1/books HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\n{");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => socket.once("close", resolve));
  expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 408 [^]*connection: close/i);
});

test.each([
  ["past its deadline", { timeoutMs: 50 }, 408],
  ["that is too long", { maxBodyBytes: 1 }, 413],
])("closes the HTTP/2 stream of a body %s", async (_body, options, status) => {
  const { port } = await listenHttp2({ routes: libraryWith(library), ...options });
  const session = http2.connect(`http://127.0.0.1:${port}`);
  const stream = session.request({ ":method": "POST", ":path": "/v1/shelves/1/books" });
  const closed = once(stream, "close");
  stream.write("{{{");
  stream.resume();
  const [headers] = await once(stream, "response");
  await closed;
  expect([headers[":status"], stream.rstCode]).toEqual([status, http2.constants.NGHTTP2_NO_ERROR]);
  session.destroy();
});

test("cancels the call of a client that disconnects in the middle of its body", async () => {
  const errors: Code[] = [];
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { port } = await listenHttp1({
    routes: libraryWith(library),
    contextValues() {
      begun.resolve();
      return createContextValues();
    },
    mapError(error) {
      errors.push(error.code);
      ended.resolve();
      return error;
    },
  });
  const socket = net.connect(port, "127.0.0.1");
  socket.write("POST /v1/shelves/1/books HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\n{");
  await begun.promise;
  socket.destroy();
  await ended.promise;
  expect(errors).toEqual([Code.Canceled]);
});

test("reads a body that arrives in pieces, and the next request on the same connection", async () => {
  const { port } = await listenHttp1({ routes: libraryWith(library) });
  const socket = net.connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  const head = "POST /v1/shelves/1/books HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const piece of [head, '5\r\n{"tit\r\n', '8\r\nle":"a"}\r\n', "0\r\n\r\n"]) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  socket.write("GET /v1/shelves/1/books/2 HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  await new Promise((resolve) => socket.once("close", resolve));
  const text = Buffer.concat(chunks).toString();
  expect(text).toContain('{"title":"a"}');
  expect(text).toContain("War and Peace");
});

function hangingLibrary(): {
  routes: RestHandlerOptions["routes"];
  started: Promise<void>;
  aborted: Promise<ConnectError>;
} {
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<ConnectError>();
  const routes = libraryWith({
    getBook: (_request, { signal }) => {
      started.resolve();
      return new Promise<never>((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted.resolve(ConnectError.from(signal.reason));
          reject(new Error("aborted"));
        });
      });
    },
  });
  return { routes, started: started.promise, aborted: aborted.promise };
}
