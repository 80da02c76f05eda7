import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { randomBytes } from "node:crypto";
import { EventEmitter, on, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { RestHandlerOptions } from "../../../src/rest/rest-handler.ts";
import { StreamingService } from "../gen/rest/test/v1/library_pb.ts";
import { createEventParser } from "../support/event-parser.ts";
import { readText, serveHttp2, streamProtocols } from "../support/open-stream.ts";

type Streaming = Partial<ServiceImpl<typeof StreamingService>>;

function streamingWith(implementation: Streaming): RestHandlerOptions["routes"] {
  return (router) => router.service(StreamingService, implementation);
}

const path = "/v1/shelves/1:watch";

/** Returns a thousand random characters, which do not compress well. */
function newTitle(): string {
  return randomBytes(750).toString("base64");
}

/** Yields without end. `yielded` counts the messages; `returned` resolves when the iterator is returned. */
function endless(): { implementation: Streaming; yielded: () => number; returned: Promise<void> } {
  let yielded = 0;
  const returned = Promise.withResolvers<void>();
  async function* yieldForEver<T>(make: () => T): AsyncGenerator<T> {
    try {
      for (;;) {
        yielded += 1;
        yield make();
      }
    } finally {
      returned.resolve();
    }
  }
  const implementation: Streaming = {
    watch: () => yieldForEver(() => ({ title: newTitle() })),
    download: () => yieldForEver(() => ({ contentType: "image/png", data: Buffer.from(newTitle()) })),
  };
  return { implementation, yielded: () => yielded, returned: returned.promise };
}

/** Polls until the number stops changing. */
async function settle(read: () => number): Promise<number> {
  for (let last = -1; ;) {
    const now = read();
    if (now === last) return now;
    last = now;
    await sleep(100);
  }
}

const forms = [
  ["json", `${path}?$alt=json`, "identity"],
  ["compressed json", `${path}?$alt=json`, "gzip"],
  ["ndjson", `${path}?$alt=ndjson`, "identity"],
  ["sse", `${path}?$alt=sse`, "identity"],
  ["bytes", "/v1/files/a:download", "identity"],
] as const;

describe.each(Object.entries(streamProtocols))("over %s", (_name, serve) => {
  test.each(forms)("stops iterating while a slow client does not read (%s)", async (_form, target, coding) => {
    const { implementation, yielded, returned } = endless();
    const { open } = await serve({ routes: streamingWith(implementation) });
    const { body, leave } = await open({ path: target, headers: { "accept-encoding": coding } });
    const stalled = await settle(yielded);
    // The kernel and both ends buffer some megabytes.
    expect(stalled).toBeLessThan(20_000);
    // Reading resumes the iteration.
    let length = 0;
    for await (const chunk of body) {
      length += (chunk as Buffer).length;
      if (yielded() > stalled && length > 1_000_000) break;
    }
    leave();
    await returned;
  });

  test.each(forms)("returns the iterator when a slow client disconnects (%s)", async (_form, target, coding) => {
    const { implementation, yielded, returned } = endless();
    const { open } = await serve({ routes: streamingWith(implementation) });
    const { leave } = await open({ path: target, headers: { "accept-encoding": coding } });
    await settle(yielded);
    leave();
    await returned;
  });

  test("serves other calls while a method yields without waiting", async () => {
    const { implementation } = endless();
    const { open } = await serve({
      routes: streamingWith({ ...implementation, async *watchShelves() {} }),
    });
    const { body, leave } = await open({ path });
    body.resume();
    const other = await open({ method: "POST", path: "/v1/shelves/1:watchShelves" }, "{}");
    expect(await readText(other.body)).toBe("[]");
    leave();
  });

  test("aborts the signal of a waiting method when the client disconnects", async () => {
    const aborted = Promise.withResolvers<unknown>();
    const ended = Promise.withResolvers<void>();
    const { open } = await serve({
      routes: streamingWith({
        async *watch(_request, { signal }) {
          try {
            yield {};
            await once(signal, "abort");
            aborted.resolve(signal.reason);
            signal.throwIfAborted();
          } finally {
            ended.resolve();
          }
        },
      }),
    });
    const { leave } = await open({ path });
    leave();
    expect(ConnectError.from(await aborted.promise).code).toBe(Code.Canceled);
    await ended.promise;
  });

  test("returns a waiting iterator that ignores the signal", async () => {
    const emitter = new EventEmitter();
    const { open } = await serve({
      interceptors: [(next) => (request) => next(request)],
      routes: streamingWith({ watch: () => on(emitter, "book") as AsyncIterable<object> }),
    });
    const { leave } = await open({ path });
    expect(emitter.listenerCount("book")).toBe(1);
    leave();
    await expect.poll(() => emitter.listenerCount("book")).toBe(0);
  });

  test("does not call the method if the client has disconnected before", async () => {
    let runs = 0;
    const arrived = Promise.withResolvers<AbortSignal>();
    const passed = Promise.withResolvers<void>();
    const { send } = await serve({
      interceptors: [
        (next) => async (request) => {
          arrived.resolve(request.signal);
          await once(request.signal, "abort");
          const answer = await next(request);
          setTimeout(passed.resolve, 20);
          return answer;
        },
      ],
      routes: streamingWith({
        async *watch() {
          runs += 1;
          yield {};
        },
      }),
    });
    const { body, leave } = send({ path });
    body.end();
    await arrived.promise;
    leave();
    await passed.promise;
    expect(runs).toBe(0);
  });

  test("calls mapError once when a client disconnects", async () => {
    const codes: Code[] = [];
    const { implementation, returned } = endless();
    const { open } = await serve({
      routes: streamingWith(implementation),
      mapError(error) {
        codes.push(error.code);
        return error;
      },
    });
    (await open({ path })).leave();
    await returned;
    await expect.poll(() => codes).toEqual([Code.Canceled]);
    await sleep(20);
    expect(codes).toHaveLength(1);
  });

  test("ends a stream at the caller's deadline, but not at that of unary calls", async () => {
    const ended: string[] = [];
    const { open } = await serve({
      timeoutMs: 20,
      routes: streamingWith({
        async *watch(_request, { signal, timeoutMs }) {
          try {
            yield { title: timeoutMs() === undefined ? "no end" : "an end" };
            // Longer than the deadline of unary calls; the caller's deadline ends it.
            await sleep(timeoutMs() === undefined ? 150 : 60_000, undefined, { signal });
            yield { title: "b" };
          } finally {
            ended.push(ConnectError.from(signal.reason).rawMessage);
          }
        },
      }),
    });
    const read = async (target: string, headers: Record<string, string>): Promise<string> =>
      readText((await open({ path: target, headers })).body);
    expect(await read(`${path}?$alt=ndjson`, {})).toBe('{"title":"no end"}\n{"title":"b"}\n');
    const titles = [{ title: "an end" }];
    const error = { code: 504, status: "DEADLINE_EXCEEDED" };
    // Long enough for the first message, also on a busy machine.
    const [array, sent] = await Promise.all([
      read(path, { "grpc-timeout": "4000m" }),
      read(`${path}?$alt=sse`, { "x-server-timeout": "4" }),
    ]);
    expect(JSON.parse(array)).toMatchObject([...titles, { error }]);
    const { events, feed } = createEventParser();
    feed(sent);
    expect(events.map(({ type }) => type)).toEqual(["message", "error"]);
    expect(JSON.parse(events[1]?.data ?? "")).toMatchObject({
      error: { ...error, details: [{ reason: "TIMEOUT" }] },
    });
    expect(ended.slice(1)).toEqual(Array(2).fill("the call took longer than 4000 ms"));
  });

  test("responds with 504 if the caller's deadline passes before the first message", async () => {
    const { open } = await serve({
      routes: streamingWith({
        async *watch(_request, { signal }) {
          await once(signal, "abort");
          yield {};
        },
      }),
    });
    const { status, body } = await open({ path, headers: { "grpc-timeout": "30m" } });
    expect([status, await readText(body)]).toEqual([504, expect.stringContaining("DEADLINE_EXCEEDED")]);
  });

  test("ends a stream that the client does not read at the caller's deadline", async () => {
    const { implementation, returned } = endless();
    const { open } = await serve({ routes: streamingWith(implementation) });
    const { body } = await open({ path: `${path}?$alt=ndjson`, headers: { "x-server-timeout": "1" } });
    await returned;
    expect((await readText(body)).trimEnd().split("\n").at(-1)).toContain("DEADLINE_EXCEEDED");
  });

  test("sends heartbeat comments in a silent stream of events", async () => {
    const heartbeatMs = 50;
    const quick = 30;
    const told = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let slow = 0;
    const { open } = await serve({
      heartbeatMs,
      routes: streamingWith({
        async *watch() {
          await told[0]?.promise;
          for (let index = 0; index < quick; index++) {
            const start = performance.now();
            yield { title: "quick" };
            await sleep(10);
            slow += Math.floor((performance.now() - start) / (heartbeatMs / 2));
          }
          await told[1]?.promise;
        },
      }),
    });
    const { body } = await open({ path: `${path}?$alt=sse` });
    const { events, comments, feed } = createEventParser();
    let before: number | undefined;
    let between = 0;
    for await (const chunk of body) {
      feed(String(chunk));
      if (events.length > 0) before ??= comments.length;
      if (events.length < quick) between = comments.length - (before ?? comments.length);
      // The method waits for two comments before its events, and for two after them.
      if (comments.length >= 2) told[0]?.resolve();
      if (events.length === quick && comments.length - between - (before ?? 0) >= 2) told[1]?.resolve();
    }
    expect(events.filter(({ data }) => data.includes("quick"))).toHaveLength(quick);
    // Frequent events need no comments between them, unless the machine has made them wait.
    expect(between).toBeLessThanOrEqual(slow);
  });

  test("sends each message immediately", async () => {
    const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { open } = await serve({
      routes: streamingWith({
        async *watch() {
          yield { title: "0" };
          await steps[0]?.promise;
          yield { title: "1" };
          await steps[1]?.promise;
        },
      }),
    });
    const { body } = await open({ path: `${path}?$alt=ndjson` });
    let index = 0;
    for await (const chunk of body) {
      expect(String(chunk)).toBe(`{"title":"${index}"}\n`);
      steps[index++]?.resolve();
    }
    expect(index).toBe(2);
  });

  test("keeps the connection alive after a stream", async () => {
    if (serve === serveHttp2) return;
    const ports = new Set<number | undefined>();
    const { open } = await serve({
      contextValues: (request) => {
        ports.add(request.socket.remotePort);
        return undefined as never;
      },
      routes: streamingWith({
        async *watch() {
          yield {};
        },
      }),
    });
    for (let index = 0; index < 3; index++) await readText((await open({ path })).body);
    expect(ports.size).toBe(1);
  });
});
