// Over all protocols, a response is encoded as it is when it is sent, unless the handler has said that it is reused.
import { create } from "@bufbuild/protobuf";
import {
  type HandlerContext,
  type Interceptor,
  type Transport,
  createClient,
  createContextValues,
} from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { createListener } from "../../src/http/listener/listener.ts";
import { type RestHandlerOptions, createRestHandler } from "../../src/rest/rest-handler.ts";
import { createExplainError } from "../../src/rpc/explain-error.ts";
import { createRpcHandler } from "../../src/rpc/rpc-handler.ts";
import { isReused, markReused } from "../../src/standard-methods/read/reused-response.ts";
import { type Book, BookSchema, LibraryService } from "../rest/gen/rest/test/v1/library_pb.ts";

/** Returns the topic of the book, as a client reads it. */
type ReadTopic = (baseUrl: string) => Promise<string | undefined>;

const restTopic: ReadTopic = async (baseUrl) => {
  const response = await fetch(`${baseUrl}/v1/shelves/1/books/1`);
  return ((await response.json()) as Pick<Book, "labels">).labels["topic"];
};

const topicOver =
  (transport: (baseUrl: string) => Transport): ReadTopic =>
  async (baseUrl) =>
    (await createClient(LibraryService, transport(baseUrl)).getBook({ name: "shelves/1/books/1" })).labels["topic"];

describe.each<[string, ReadTopic]>([
  ["REST", restTopic],
  ["Connect", topicOver((baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" }))],
  [
    "Connect in JSON",
    topicOver((baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false })),
  ],
  ["gRPC", topicOver((baseUrl) => createGrpcTransport({ baseUrl }))],
  ["gRPC-Web", topicOver((baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }))],
])("over %s", (_protocol, readTopic) => {
  test("a frozen message of another service is sent with the contents that it has", async () => {
    const book = createBook("rivers");
    const url = await serve({ getBook: () => book, rest: {} });
    expect(await readTopic(url)).toBe("rivers");
    book.labels["topic"] = "mountains";
    expect(await readTopic(url)).toBe("mountains");
  });

  test("a message that is marked as reused is encoded once", async () => {
    const book = createBook("rivers");
    const url = await serve({ getBook: (context) => returnReused(book, context) });
    expect(await readTopic(url)).toBe("rivers");
    book.labels["topic"] = "mountains";
    expect(await readTopic(url)).toBe("rivers");
  });

  test("what an interceptor returns instead of it is not", async () => {
    const [book, other] = [createBook("rivers"), createBook("lakes")];
    const url = await serve({
      getBook: (context) => returnReused(book, context),
      call: (next) => async (request) => ({ ...(await next(request)), message: other }) as never,
    });
    expect(await readTopic(url)).toBe("lakes");
    other.labels["topic"] = "mountains";
    expect(await readTopic(url)).toBe("mountains");
  });

  test("nor is it if an interceptor gives the handler another context", async () => {
    const book = createBook("rivers");
    const url = await serve({
      getBook: (context) => returnReused(book, context),
      call: (next) => (request) => next({ ...request, contextValues: createContextValues() }),
    });
    expect(await readTopic(url)).toBe("rivers");
    book.labels["topic"] = "mountains";
    expect(await readTopic(url)).toBe("mountains");
  });
});

/** A message that cannot be changed itself, but whose contents can. */
function createBook(topic: string): Book {
  return Object.freeze(create(BookSchema, { name: "shelves/1/books/1", labels: { topic } }));
}

function returnReused(book: Book, context: HandlerContext): Book {
  markReused(book, context);
  return book;
}

interface Served {
  readonly getBook: (context: HandlerContext) => Book;
  readonly call?: Interceptor;
  /** Of the transcoder. By default, it asks what is reused. */
  readonly rest?: Pick<RestHandlerOptions, "isReused">;
}

async function serve({ getBook, call = (next) => next, rest = { isReused } }: Served): Promise<string> {
  const routes: RestHandlerOptions["routes"] = (router) =>
    router.rpc(LibraryService.method.getBook, (_request, context) => getBook(context));
  const handler = createRpcHandler({
    routes,
    longLived() {},
    guards: {
      gate: async () => {},
      slice: () => undefined,
      body: () => ({ maxBytes: 10_000 }),
      errors: (next) => next,
      concurrency: (next) => next,
      streams: (next) => next,
      call,
      explain: createExplainError(pino({ enabled: false })),
    },
    maxStreamedBytes: 10_000,
    maxJsonDepth: 100,
    requestTimeoutMs: 5_000,
    fallback: createRestHandler({ routes, interceptors: [call], ...rest }),
  });
  const listener = createListener({
    handler: (request, response) => handler(request, response, createContextValues()),
    limits: {
      maxHeaderBytes: 16_384,
      headersTimeoutMs: 5_000,
      requestTimeoutMs: 5_000,
      keepAliveTimeoutMs: 5_000,
      maxConcurrentStreams: 100,
    },
  });
  onTestFinished(() => listener.close(0));
  return `http://127.0.0.1:${(await listener.listen(0, "127.0.0.1")).port}`;
}
