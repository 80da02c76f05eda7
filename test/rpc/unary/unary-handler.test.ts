// Unary calls beside connect-node: for the same requests, src/rpc/unary responds as connect-node does, over HTTP/1.1 and HTTP/2.
import { once } from "node:events";
import { connect } from "node:http2";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createContextValues } from "@connectrpc/connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { pino } from "pino";
import { type Listener, createListener } from "../../../src/http/listener/listener.ts";
import type { HttpHandler } from "../../../src/http/http-messages.ts";
import { createExplainError } from "../../../src/rpc/explain-error.ts";
import { createUnaryHandler } from "../../../src/rpc/unary/unary-handler.ts";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { BookRequestSchema, LibraryService } from "../../rest/gen/rest/test/v1/library_pb.ts";

const maxBodyBytes = 10_000;
const path = "/rest.test.v1.LibraryService/GetBook";

/** What a response says, whatever the order of its headers. */
interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How many slow calls run, and who waits for their ends. */
let running = 0;
const left: (() => void)[] = [];

const routes = (router: ConnectRouter): void => {
  router.rpc(
    LibraryService.method.getBook,
    async ({ name }, { responseHeader, responseTrailer, requestHeader, signal }) => {
      responseHeader.set("x-echo", requestHeader.get("x-sent") ?? "");
      responseTrailer.set("x-end", "end");
      if (name === "missing") throw new ConnectError("no such böok", Code.NotFound, { "x-error": "told" });
      if (name === "slow") {
        running++;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        running--;
        for (const tell of left.splice(0)) tell();
      }
      if (name === "broken") throw new Error("a secret");
      if (name === "invalid") throw invalid();
      if (name === "unsendable") throw new ConnectError("half a character: \ud800", Code.NotFound, { "x-a": "b" });
      return { name, title: name === "long" ? "title ".repeat(1_000) : "", labels: { a: "b" } };
    },
  );
};

/** Details of 40 kB. */
function invalid(): ConnectError {
  const error = new ConnectError("ä".repeat(3_000), Code.InvalidArgument);
  const fieldViolations = Array.from({ length: 100 }, (_, index) => ({
    field: `books[${index}].name`,
    description: "must be shorter. ".repeat(20),
  }));
  error.details = [
    { desc: ErrorInfoSchema, value: { reason: "FIELD_INVALID" } },
    { desc: BadRequestSchema, value: { fieldViolations } },
  ];
  return error;
}

const values = {
  requestGate: async () => {},
  beforeMessage: () => undefined,
  isReused: () => false,
  timeoutMs: 5_000,
};
const node = connectNodeAdapter({ routes, readMaxBytes: maxBodyBytes, jsonOptions: { ignoreUnknownFields: false } });
const fallen: string[] = [];
const unary = createUnaryHandler({
  ...values,
  routes,
  interceptors: [],
  explain: createExplainError(pino({ enabled: false })),
  bodyLimits: () => ({ maxBytes: maxBodyBytes }),
  itemLimitOf: () => undefined,
  maxDepth: 100,
  fallback(request, response) {
    fallen.push(request.url ?? "");
    return node(request, response);
  },
});

const listeners: Listener[] = [];

async function listen(handler: HttpHandler): Promise<string> {
  const listener = createListener({
    handler,
    limits: {
      maxHeaderBytes: 16_384,
      headersTimeoutMs: 5_000,
      requestTimeoutMs: 5_000,
      keepAliveTimeoutMs: 5_000,
      maxConcurrentStreams: 100,
    },
  });
  listeners.push(listener);
  const { port } = await listener.listen(0, "127.0.0.1");
  return `http://127.0.0.1:${port}`;
}

let urls: readonly [ours: string, theirs: string];

beforeAll(async () => {
  urls = [await listen((request, response) => unary(request, response, createContextValues())), await listen(node)];
});

afterAll(async () => {
  await Promise.all(listeners.map((listener) => listener.close(0)));
});

/** Headers that differ by nature, or that the protocols do not define. */
const unseen = new Set([
  "date",
  "connection",
  "keep-alive",
  "content-length",
  "transfer-encoding",
  "vary",
  "trailer",
  ":status",
]);

async function send1(url: string, headers: Record<string, string>, body: Buffer): Promise<Seen> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "accept-encoding": "identity", ...headers },
    body,
  });
  const seen = [...response.headers].filter(([name]) => !unseen.has(name));
  return {
    status: response.status,
    headers: Object.fromEntries(seen),
    body: Buffer.from(await response.arrayBuffer()).toString("latin1"),
  };
}

function send2(url: string, headers: Record<string, string>, body: Buffer): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const session = connect(url);
    session.on("error", reject);
    const stream = session.request({ ":method": "POST", ":path": path, te: "trailers", ...headers });
    const seen: Record<string, string> = {};
    const take = (given: Record<string, unknown>) => {
      for (const [name, value] of Object.entries(given)) if (!unseen.has(name)) seen[name] = String(value);
    };
    let status = 0;
    const chunks: Buffer[] = [];
    stream.on("response", (given) => {
      status = Number(given[":status"]);
      take(given);
    });
    stream.on("trailers", (given) => {
      take(given);
      // Clients look for the status in trailers unless the headers end the stream.
      seen["status-in"] = "trailers";
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", reject);
    stream.on("close", () => {
      session.close();
      const bytes = Buffer.concat(chunks);
      const plain = seen["content-encoding"] === "br" ? brotliDecompressSync(bytes) : bytes;
      resolve({ status, headers: seen, body: plain.toString("latin1") });
    });
    stream.end(body);
  });
}

/** Decodes what compares better decoded: error details, and what each side compresses in its own way. */
function decoded(seen: Seen): Seen {
  // Only says something about compressed messages.
  const { "grpc-encoding": coding, ...headers } = seen.headers;
  let body = Buffer.from(seen.body, "latin1");
  if (coding !== undefined && body[0] === 1) {
    const message = body.subarray(5, 5 + body.readUInt32BE(1));
    const plain = coding === "br" ? brotliDecompressSync(message) : gunzipSync(message);
    body = Buffer.concat([plain, body.subarray(5 + message.length)]);
  }
  return { status: seen.status, headers, body: body.toString("utf8") };
}

const frame = (message: Uint8Array, flags = 0): Buffer => {
  const prefix = Buffer.alloc(5);
  prefix[0] = flags;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
};

const proto = (name: string): Buffer => Buffer.from(toBinary(BookRequestSchema, create(BookRequestSchema, { name })));
const json = (name: string): Buffer =>
  Buffer.from(toJsonString(BookRequestSchema, create(BookRequestSchema, { name })));

/** What both respond to in the same way, by protocol and encoding. */
function callsOf(type: string, read: (name: string) => Buffer, isFramed: boolean) {
  const wrap = (message: Buffer, flags = 0): Buffer => (isFramed ? frame(message, flags) : message);
  const [coding, accept] = isFramed
    ? ["grpc-encoding", "grpc-accept-encoding"]
    : ["content-encoding", "accept-encoding"];
  const timeout = isFramed ? "grpc-timeout" : "connect-timeout-ms";
  const headers = { "content-type": type, "x-sent": "sent" };
  return {
    "a book": [headers, wrap(read("one"))],
    "an empty message": [headers, wrap(Buffer.from(type.includes("json") ? "{}" : ""))],
    "an error": [headers, wrap(read("missing"))],
    "a timeout that is not reached": [{ ...headers, [timeout]: isFramed ? "1S" : "1000" }, wrap(read("one"))],
    "a timeout that cannot be read": [{ ...headers, [timeout]: "soon" }, wrap(read("one"))],
    "an unknown compression": [{ ...headers, [coding]: "lzma" }, wrap(read("one"))],
    "a gzipped request": [{ ...headers, [coding]: "gzip" }, wrap(gzipSync(read("one")), 1)],
    "a request in Brotli": [{ ...headers, [coding]: "br" }, wrap(brotliCompressSync(read("one")), 1)],
    "a long response": [headers, wrap(read("long"))],
    "a long response in Brotli": [{ ...headers, [accept]: "br" }, wrap(read("long"))],
    "a request that is too large": [headers, wrap(read("x".repeat(maxBodyBytes + 1)))],
    "a request that is too large when decompressed": [
      { ...headers, [coding]: "gzip" },
      wrap(gzipSync(read("x".repeat(maxBodyBytes + 1))), 1),
    ],
  } satisfies Record<string, [Record<string, string>, Buffer]>;
}

const forms = [
  ["application/proto", proto, false],
  ["application/json", json, false],
  ["application/json; charset=utf-8", json, false],
  ["application/grpc-web", proto, true],
  ["application/grpc-web+proto", proto, true],
  ["application/grpc-web+json", json, true],
  ["application/grpc", proto, true],
  ["application/grpc+proto", proto, true],
  ["application/grpc+json", json, true],
] as const;

/** The code of an error, and nothing else: the words are ours. */
function codeOf({ status, headers, body }: Seen): unknown {
  const inBody = /grpc-status: (\d+)/.exec(body)?.[1];
  const code = headers["grpc-status"] ?? inBody;
  return code === undefined ? [status, (JSON.parse(body) as { code: string }).code] : [status, code];
}

describe.each(forms)("%s", (type, read, isFramed) => {
  const calls = callsOf(type, read, isFramed);

  test.each(Object.entries(calls))("%s", async (what, [headers, body]) => {
    for (const send of type.startsWith("application/grpc") && !type.includes("web") ? [send2] : [send1, send2]) {
      fallen.length = 0;
      const ours = decoded(await send(urls[0], headers, body));
      const theirs = decoded(await send(urls[1], headers, body));
      expect(fallen).toEqual([]);
      if (/unknown|cannot|too large/.test(what)) expect(codeOf(ours)).toEqual(codeOf(theirs));
      else expect(ours).toEqual(theirs);
    }
  });
});

test.each(forms.filter(([, , isFramed]) => isFramed))(
  "%s lists the codings that it reads with an unknown one",
  async (type, read) => {
    const headers = { "content-type": type, "grpc-encoding": "lzma" };
    const { headers: seen } = await send2(urls[0], headers, frame(read("one")));
    expect(seen["grpc-accept-encoding"]).toBe("gzip,br");
  },
);

describe("a request over gRPC", () => {
  const headers = { "content-type": "application/grpc", "x-sent": "sent" };
  const book = frame(proto("one"));

  test.each<[string, Record<string, string>, Buffer]>([
    ["without a message", headers, Buffer.alloc(0)],
    ["with two messages", headers, Buffer.concat([book, book])],
    ["that ends within the prefix", headers, book.subarray(0, 4)],
    ["that ends within the message", headers, book.subarray(0, -1)],
    ["whose message is longer than any", headers, Buffer.from([0, 255, 255, 255, 255, 1])],
    ["whose flags are unknown", headers, frame(proto("one"), 2)],
    ["that is compressed in an unnamed way", headers, frame(gzipSync(proto("one")), 1)],
    ["that is not in Protobuf", headers, frame(Buffer.from([255, 255, 255]))],
  ])("%s has the code of connect-node", async (_what, given, body) => {
    const ours = codeOf(await send2(urls[0], given, body));
    // connect-node reads the length of a message that is too long before the message.
    // connect-node ignores flags that it does not know.
    if (/longer|unknown/.test(_what)) expect(ours).toEqual([200, String(Code.InvalidArgument)]);
    else expect(ours).toEqual(codeOf(await send2(urls[1], given, body)));
  });

  test("has an error whose trailers clients accept: 8 KiB at most", async () => {
    const { headers: seen } = await send2(urls[0], headers, frame(proto("invalid")));
    const bytes = Object.entries(seen).reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
    expect(bytes).toBeLessThan(8_192);
    const error = findTrailerError(new Headers(seen));
    expect(error?.code).toBe(Code.InvalidArgument);
    expect(error?.rawMessage).toMatch(/^ä+\.\.\. \(96 more than the details of this error have\)$/);
    expect(error?.findDetails(ErrorInfoSchema)).toHaveLength(1);
    const [violations] = error?.findDetails(BadRequestSchema) ?? [];
    expect(violations?.fieldViolations[0]?.field).toBe("books[0].name");
    const web = { ...headers, "content-type": "application/grpc-web" };
    expect((await send2(urls[0], web, frame(proto("invalid")))).body.length).toBeGreaterThan(40_000);
  });

  test.each(["one", "missing"])(
    "has a response without a length: proxies end it there, before its status (%s)",
    async (name) => {
      const session = connect(urls[0]);
      onTestFinished(() => session.destroy());
      const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
      stream.end(frame(proto(name)));
      const [given] = (await once(stream, "response")) as [Record<string, string>];
      expect({ ...given }).toMatchObject({ ":status": 200, "content-type": "application/grpc+proto" });
      expect(Object.keys(given)).not.toContain("content-length");
    },
  );

  test("over HTTP/1.1, whose trailers src/rpc/unary does not send, is left to connect-node", async () => {
    fallen.length = 0;
    await send1(urls[0], headers, book);
    expect(fallen).toEqual([path]);
  });
});

describe.each([
  ["application/proto", proto("slow"), "connect-timeout-ms", "100"],
  ["application/json", json("slow"), "connect-timeout-ms", "100"],
  ["application/grpc-web", frame(proto("slow")), "grpc-timeout", "100m"],
  ["application/grpc", frame(proto("slow")), "grpc-timeout", "100m"],
])("%s", (type, body, timeoutHeader, timeout) => {
  const send = type === "application/grpc" ? send2 : send1;

  test("ends with the deadline, also if the method goes on", async () => {
    const seen = await send(urls[0], { "content-type": type, [timeoutHeader]: timeout }, body);
    expect(codeOf(seen)).toEqual(send === send2 || type.includes("web") ? [200, "4"] : [504, "deadline_exceeded"]);
  });

  test("tells nothing of an error that the method did not mean to send", async () => {
    const read = type.includes("json") ? json("broken") : proto("broken");
    const seen = await send(urls[0], { "content-type": type }, type.includes("grpc") ? frame(read) : read);
    expect(codeOf(seen)).toEqual(type.includes("grpc") ? [200, String(Code.Internal)] : [500, "internal"]);
    expect(JSON.stringify(seen)).not.toContain("secret");
  });

  test("responds to an error that cannot be sent with another one", async () => {
    const read = type.includes("json") ? json("unsendable") : proto("unsendable");
    const seen = await send(urls[0], { "content-type": type }, type.includes("grpc") ? frame(read) : read);
    expect(codeOf(seen)).toEqual(type.includes("grpc") ? [200, String(Code.Internal)] : [404, "not_found"]);
  });

  test("ends a body that never ends", async () => {
    const session = connect(urls[0]);
    onTestFinished(() => session.destroy());
    const headers = { ":method": "POST", ":path": path, "content-type": type, [timeoutHeader]: timeout };
    const stream = session.request(headers);
    stream.write(body.subarray(0, 3));
    stream.resume();
    await once(stream, "close");
    expect(stream.rstCode).toBe(0);
  });
});

test("a method is told that its client has disconnected", async () => {
  const session = connect(urls[0]);
  const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
  stream.on("error", () => {});
  const gone = new Promise<void>((resolve) => left.push(resolve));
  stream.end(frame(proto("slow")));
  await expect.poll(() => running).toBe(1);
  session.destroy();
  await gone;
});
