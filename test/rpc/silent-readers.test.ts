import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSilentReaders } from "../../src/rpc/limits/silent-readers.ts";

/** A stream that has messages without end, and says when it has ended. */
function createEndless() {
  const ended = Promise.withResolvers<void>();
  async function* endless(): AsyncGenerator<number> {
    try {
      for (let count = 0; ; count++) yield await nextTurn(count);
    } finally {
      ended.resolve();
    }
  }
  return { messages: endless(), ended: ended.promise };
}

test("a stream whose client reads nothing ends, then its client is told to resume, and is cut if it does not read that", async () => {
  const { messages, ended } = createEndless();
  const cut = Promise.withResolvers<void>();
  const watched = createSilentReaders(50).watch(messages, () => cut.resolve());
  const read = watched[Symbol.asyncIterator]();
  expect(await read.next()).toEqual({ done: false, value: 0 });
  await ended;
  await expect(read.next()).rejects.toMatchObject({ reason: "STREAM_ENDED", metadata: { ended_by: "SLOW_READER" } });
  await cut.promise;
});

test("a stream goes on for as long as its client reads, or has nothing to read", async () => {
  const silentReaders = createSilentReaders(50);
  const given = Promise.withResolvers<number>();
  async function* quiet(): AsyncGenerator<number> {
    yield await given.promise;
  }
  const [slow, other] = [createEndless(), createEndless()];
  const waits = silentReaders.watch(quiet(), undefined)[Symbol.asyncIterator]().next();
  const reads = silentReaders.watch(slow.messages, undefined)[Symbol.asyncIterator]();
  const silent = silentReaders.watch(other.messages, undefined)[Symbol.asyncIterator]();
  await silent.next();
  const done = new AbortController();
  void other.ended.then(() => done.abort());
  for (let count = 0; !done.signal.aborted; count++) expect(await reads.next()).toEqual({ done: false, value: count });
  expect(await reads.next()).toMatchObject({ done: false });
  given.resolve(7);
  expect(await waits).toEqual({ done: false, value: 7 });
});
