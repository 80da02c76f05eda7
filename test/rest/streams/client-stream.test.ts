import { randomBytes } from "node:crypto";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { RestHandlerOptions } from "../../../src/rest/rest-handler.ts";
import { StreamingService } from "../gen/rest/test/v1/library_pb.ts";
import { readText, streamProtocols } from "../support/open-stream.ts";

type Streaming = Partial<ServiceImpl<typeof StreamingService>>;

function streamingWith(implementation: Streaming): RestHandlerOptions["routes"] {
  return (router) => router.service(StreamingService, implementation);
}

const collecting: Streaming = {
  async importBooks(requests) {
    const books: string[] = [];
    for await (const { parent, requestId, book } of requests) books.push(`${parent} ${requestId} ${book?.title}`);
    return { books };
  },
  async importWhole(requests) {
    const books: string[] = [];
    for await (const { book } of requests) books.push(book?.title ?? "");
    return { books };
  },
  async uploadFile(requests) {
    const books: string[] = [];
    let length = 0;
    for await (const { filename, file } of requests) {
      length += file?.data.length ?? 0;
      books.push(`${filename} ${file?.contentType}`);
    }
    return { newParent: `${length} ${books[0]}`, books: books.slice(1) };
  },
  async uploadBytes(requests) {
    const chunks: Uint8Array[] = [];
    for await (const { data } of requests) chunks.push(data);
    return { newParent: `${chunks.length} ${Buffer.concat(chunks).toString()}` };
  },
};

const request = {
  method: "POST",
  path: "/v1/shelves/1/books:import?request_id=r",
  headers: { "content-type": "application/x-ndjson" },
};
const whole = { ...request, path: "/v1/books:import" };

async function count(requests: AsyncIterable<object>, onEach?: () => void): Promise<number> {
  let seen = 0;
  for await (const each of requests) {
    if (each !== undefined) seen += 1;
    onEach?.();
  }
  return seen;
}

interface ErrorBody {
  readonly error: { code: number; status: string; message: string; details: Record<string, unknown>[] };
}

describe.each(Object.entries(streamProtocols))("over %s", (_name, serve) => {
  test("binds each line with path and query", async () => {
    const { open } = await serve({ routes: streamingWith(collecting) });
    const { status, headers, body } = await open(request, '{"title":"a"}\n{"title":"b"}\n');
    expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
    expect(JSON.parse(await readText(body))).toEqual({ books: ["shelves/1 r a", "shelves/1 r b"] });
  });

  test.each([
    ["LF", '{"book":{"title":"a"}}\n{"book":{"title":"b"}}\n'],
    ["CRLF", '{"book":{"title":"a"}}\r\n{"book":{"title":"b"}}\r\n'],
    ["blank lines", '\n\n{"book":{"title":"a"}}\r\n  \t\r\n{"book":{"title":"b"}}\n\n'],
    ["no newline at the end", '{"book":{"title":"a"}}\n{"book":{"title":"b"}}'],
    ["a byte order mark", '\ufeff{"book":{"title":"a"}}\n{"book":{"title":"b"}}'],
  ])("reads lines with %s", async (_case, lines) => {
    const { open } = await serve({ routes: streamingWith(collecting) });
    expect(JSON.parse(await readText((await open(whole, lines)).body))).toEqual({ books: ["a", "b"] });
  });

  test.each(["application/jsonl", "application/ndjson; charset=utf-8", undefined])(
    "reads a body of type %s",
    async (type) => {
      const { open } = await serve({ routes: streamingWith(collecting) });
      const headers = type === undefined ? {} : { "content-type": type };
      expect((await open({ ...whole, headers }, "{}\n")).status).toBe(200);
    },
  );

  test.each(["application/json", "text/plain", "application/x-ndjson; charset=latin1"])(
    "rejects a body of type %s",
    async (type) => {
      const { open } = await serve({ routes: streamingWith(collecting) });
      const { status, headers, body } = await open({ ...whole, headers: { "content-type": type } }, "{}\n");
      expect([status, headers["accept"]]).toEqual([415, "application/x-ndjson, application/jsonl, application/ndjson"]);
      expect(await readText(body)).toContain("must be application/x-ndjson or application/jsonl");
    },
  );

  test("reads an empty stream", async () => {
    const { open } = await serve({ routes: streamingWith(collecting) });
    for (const nothing of [undefined, "\n\n"]) {
      expect(await readText((await open(whole, nothing)).body)).toBe("{}");
    }
  });

  test("reads lines that arrive in pieces, wherever they are split", async () => {
    const { send } = await serve({ routes: streamingWith(collecting) });
    const { body, opened } = send(whole);
    for (const byte of Buffer.from('{"book":{"title":"ж€🦊"}}\r\n{"book":{"title":"b"}}')) {
      body.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    body.end();
    expect(JSON.parse(await readText((await opened).body))).toEqual({ books: ["ж€🦊", "b"] });
  });

  test("decompresses gzip, but not br, which would use much memory during the whole stream", async () => {
    const { open } = await serve({ routes: streamingWith(collecting) });
    const inBrotli = { ...whole, headers: { ...whole.headers, "content-encoding": "br" } };
    expect((await open(inBrotli, brotliCompressSync("{}"))).status).toBe(415);
    const headers = { ...whole.headers, "content-encoding": "gzip" };
    const { body } = await open({ ...whole, headers }, gzipSync('{"book":{"title":"a"}}\n'));
    expect(JSON.parse(await readText(body))).toEqual({ books: ["a"] });
    const broken = await open({ ...whole, headers }, "not compressed");
    expect([broken.status, await readText(broken.body)]).toEqual([
      400,
      expect.stringContaining("does not match its Content-Encoding"),
    ]);
    const cut = await open({ ...whole, headers }, gzipSync('{"book":{"title":"a"}}\n').subarray(0, -3));
    expect(cut.status).toBe(400);
  });

  test("rejects another content encoding", async () => {
    const { open } = await serve({ routes: streamingWith(collecting) });
    expect((await open({ ...whole, headers: { ...whole.headers, "content-encoding": "zstd" } }, "{}")).status).toBe(
      415,
    );
  });

  test("limits the length of each line, also after decompression, but not their sum", async () => {
    const { open } = await serve({ routes: streamingWith(collecting), maxBodyBytes: 100 });
    const short = `{"book":{"title":"${"x".repeat(50)}"}}\n`;
    expect((await open(whole, short.repeat(1000))).status).toBe(200);
    const long = gzipSync(short + randomBytes(200_000).toString("hex"));
    const headers = { ...whole.headers, "content-encoding": "gzip" };
    const tooLong: [typeof whole, string | Buffer][] = [
      [whole, `${short}${"x".repeat(101)}`],
      [{ ...whole, headers }, long],
    ];
    for (const [target, lines] of tooLong) {
      const { status, body } = await open(target, lines);
      expect(status).toBe(413);
      const { error } = JSON.parse(await readText(body)) as ErrorBody;
      expect(error.message).toBe("line 2: a line must be at most 100 bytes long");
      expect(error.details[0]).toMatchObject({ reason: "BODY_TOO_LARGE" });
    }
  });

  test("rejects a decompression bomb, even of blank lines", async () => {
    const { open } = await serve({ routes: streamingWith(collecting) });
    const headers = { ...whole.headers, "content-encoding": "gzip" };
    const { status, body } = await open({ ...whole, headers }, gzipSync("\n".repeat(50_000_000)));
    expect([status, await readText(body)]).toEqual([413, expect.stringContaining("more than 200 times its length")]);
  });

  test.each([
    ["a line that is not JSON", '{}\n\n{"book":\n{}', "line 3: the body is not JSON"],
    ["a field that does not fit", '{}\n{"book":{"title":5}}', "line 2: book.title: must be a string, got 5"],
    ["an unknown field", '{"isbn":1}', "line 1: isbn: is not a field"],
    ["bytes that are not UTF-8", Buffer.from("7b7d0aff", "hex"), "line 2: the body is not UTF-8"],
  ])("names the line of %s", async (_case, lines, message) => {
    const { open } = await serve({ routes: streamingWith(collecting) });
    const { status, body } = await open(whole, lines);
    const { error } = JSON.parse(await readText(body)) as ErrorBody;
    expect([status, error.message]).toEqual([400, expect.stringContaining(message)]);
  });

  test("names field and line in violations", async () => {
    const { open } = await serve({ routes: streamingWith(collecting) });
    const { error } = JSON.parse(await readText((await open(whole, '{}\n{"book":{"title":5}}')).body)) as ErrorBody;
    expect(error.details[1]?.["field_violations"]).toEqual([
      { field: "book.title", description: "in line 2 must be a string, got 5" },
    ]);
  });

  test("throws InvalidArgument to the method for an invalid line", async () => {
    let thrown: unknown;
    const { open } = await serve({
      routes: streamingWith({
        async importWhole(requests) {
          try {
            await count(requests);
          } catch (error) {
            thrown = error;
            throw new Error("import failed", { cause: error });
          }
          return {};
        },
      }),
    });
    expect((await open(whole, "{}\n{")).status).toBe(400);
    expect(ConnectError.from(thrown).code).toBe(Code.InvalidArgument);
  });

  test("streams an upload in chunks, with the content type in the first", async () => {
    const { open } = await serve({ routes: streamingWith(collecting) });
    const upload = { method: "POST", path: "/v1/files/a/b:uploadStream", headers: { "content-type": "text/csv" } };
    const answer: { new_parent: string; books: string[] } = JSON.parse(
      await readText((await open(upload, Buffer.alloc(300_000))).body),
    );
    expect(answer.new_parent).toBe("300000 files/a/b text/csv");
    expect(new Set(answer.books)).toEqual(new Set(["files/a/b "]));
    const empty = await open({ ...upload, path: "/v1/bytes:upload" });
    expect(await readText(empty.body)).toBe('{"new_parent":"1 "}');
    const small = await open({ ...upload, path: "/v1/bytes:upload" }, "ab");
    expect(await readText(small.body)).toBe('{"new_parent":"1 ab"}');
  });

  test("creates one message from path and query for a method without body", async () => {
    const { open } = await serve({
      routes: streamingWith({ countNames: async (requests) => ({ newParent: String(await count(requests)) }) }),
    });
    const target = { path: "/v1/shelves/1:count" };
    expect(await readText((await open(target)).body)).toBe('{"new_parent":"1"}');
    const { status, body } = await open(target, "{}\n");
    expect([status, await readText(body)]).toEqual([400, expect.stringContaining("BODY_NOT_ALLOWED")]);
  });

  test("stops reading while the method does not", async () => {
    const go = Promise.withResolvers<void>();
    const { send } = await serve({
      routes: streamingWith({
        async importWhole(requests) {
          await go.promise;
          return { newParent: String(await count(requests)) };
        },
      }),
    });
    const { body, opened } = send(whole);
    const line = `{"book":{"title":"${"x".repeat(10_000)}"}}\n`;
    let sent = 0;
    while (sent < 10_000) {
      sent += 1;
      if (body.write(line)) continue;
      const drained = await Promise.race([
        new Promise((resolve) => body.once("drain", () => resolve(true))),
        sleep(300, false),
      ]);
      if (drained === false) break;
    }
    // The kernel and both ends buffer some megabytes.
    expect(sent).toBeLessThan(2000);
    go.resolve();
    body.end();
    expect(await readText((await opened).body)).toBe(`{"new_parent":"${sent}"}`);
  });

  test("responds as soon as the method returns, while the client still sends", async () => {
    const ended = Promise.withResolvers<void>();
    const { send } = await serve({
      routes: streamingWith({
        async importWhole(requests) {
          for await (const { book } of requests) {
            ended.resolve();
            return { newParent: book?.title ?? "" };
          }
          return {};
        },
      }),
    });
    const { body, opened } = send(whole);
    const timer = setInterval(() => body.writable && body.write('{"book":{"title":"a"}}\n'.repeat(1000)), 1);
    try {
      const { status, body: answer } = await opened;
      expect([status, await readText(answer)]).toEqual([200, '{"new_parent":"a"}']);
    } finally {
      clearInterval(timer);
    }
    await ended.promise;
  });

  test("responds as soon as a line is invalid, while the client still sends", async () => {
    const { send } = await serve({ routes: streamingWith(collecting) });
    const { body, opened } = send(whole);
    const timer = setInterval(() => body.writable && body.write("{}\n{\n".repeat(1000)), 1);
    try {
      expect((await opened).status).toBe(400);
    } finally {
      clearInterval(timer);
    }
  });

  test("throws Canceled to the method when the client disconnects in the middle of the body", async () => {
    const started = Promise.withResolvers<void>();
    const outcome = Promise.withResolvers<unknown>();
    let signal: AbortSignal | undefined;
    const { send } = await serve({
      routes: streamingWith({
        async importWhole(requests, context) {
          ({ signal } = context);
          try {
            await count(requests, started.resolve);
            outcome.resolve("ended");
          } catch (error) {
            outcome.resolve(error);
            throw error;
          }
          return {};
        },
      }),
    });
    const { body, leave } = send(whole);
    body.write('{}\n{"book":{}}');
    await started.promise;
    leave();
    const error = await outcome.promise;
    expect(error).toBeInstanceOf(ConnectError);
    expect(ConnectError.from(error).code).toBe(Code.Canceled);
    await expect.poll(() => signal?.aborted).toBe(true);
  });

  test("ends at the caller's deadline while it waits for the next line", async () => {
    let thrown: unknown;
    const { send } = await serve({
      timeoutMs: 1,
      routes: streamingWith({
        async importWhole(requests) {
          try {
            await count(requests);
          } catch (error) {
            thrown = error;
            throw error;
          }
          return {};
        },
      }),
    });
    const { body, opened } = send({ ...whole, headers: { ...whole.headers, "grpc-timeout": "1000m" } });
    body.write("{}\n");
    const { status } = await opened;
    expect(status).toBe(504);
    await expect.poll(() => ConnectError.from(thrown).code).toBe(Code.DeadlineExceeded);
  });

  test("runs interceptors around the stream", async () => {
    const seen: string[] = [];
    const { open } = await serve({
      interceptors: [
        (next) => async (call) => {
          seen.push(`${call.stream} ${call.header.get("content-type")}`);
          return next(call);
        },
        () => async () => {
          throw new ConnectError("no", Code.PermissionDenied);
        },
      ],
      routes: streamingWith(collecting),
    });
    expect((await open(whole, "{}\n")).status).toBe(403);
    expect(seen).toEqual(["true application/x-ndjson"]);
  });

  test("negotiates the format of the response, and sends the method's errors and headers", async () => {
    const { open } = await serve({
      routes: streamingWith({
        importWhole: async (_requests, { responseHeader }) => {
          responseHeader.set("x-method", "1");
          return { newParent: "a" };
        },
        importBooks: async () => {
          throw new ConnectError("too many", Code.ResourceExhausted);
        },
      }),
    });
    expect((await open({ ...whole, headers: { ...whole.headers, accept: "text/event-stream" } }, "{}")).status).toBe(
      406,
    );
    const { headers, body } = await open(whole, "{}");
    expect([headers["x-method"], await readText(body)]).toEqual(["1", '{"new_parent":"a"}']);
    expect((await open(request, "{}")).status).toBe(429);
  });

  test("reads 10,000 lines", async () => {
    const { open } = await serve({ routes: streamingWith(collecting) });
    const lines = Array.from({ length: 10_000 }, (_each, index) => `{"book":{"title":"${index}"}}\n`).join("");
    const { body } = await open(whole, lines);
    const { books } = JSON.parse(await readText(body)) as { books: string[] };
    expect([books.length, books.at(-1)]).toEqual([10_000, "9999"]);
  });
});
