import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createMetricsPage } from "../../src/metrics/metrics-page.ts";
import { openRaw } from "../http/raw-client.ts";
import { type StartedListener, startListener } from "../http/start-listener.ts";

/** Serves a text that takes until `release` to write. */
async function startPage(text = "one 1\n") {
  const state = { written: 0, release: Promise.withResolvers<void>() };
  const write = async (): Promise<string> => {
    state.written++;
    await state.release.promise;
    return text;
  };
  const server: StartedListener = await startListener(createMetricsPage({ contentType: "text/plain", write }));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { server, state };
}

test("scrapes that come while the text is written get the same one, and no more than ten are answered at once", async () => {
  const { server, state } = await startPage();
  const scrapes = Array.from({ length: 15 }, () => fetch(`${server.url}/metrics`));
  await expect.poll(() => state.written).toBe(1);
  const refused = await Promise.all((await firstSettled(scrapes, 5)).map((response) => response.json()));
  expect(refused).toEqual(
    Array.from({ length: 5 }, () => ({
      error: expect.objectContaining({ code: 429, message: "10 scrapes are being answered; try again in 1 s." }),
    })),
  );
  state.release.resolve();
  const all = await Promise.all(scrapes);
  expect(Object.groupBy(all, ({ status }) => status)).toMatchObject({ 200: { length: 10 }, 429: { length: 5 } });
  expect(state.written).toBe(1);
  // The places are free again, and the text is written anew.
  await expect.poll(async () => (await fetch(`${server.url}/metrics`)).status).toBe(200);
  expect(state.written).toBe(2);
});

async function firstSettled<Value>(promises: readonly Promise<Value>[], count: number): Promise<Value[]> {
  const settled: Value[] = [];
  for (const promise of promises) void promise.then((value) => settled.push(value));
  await expect.poll(() => settled.length).toBeGreaterThanOrEqual(count);
  return settled.slice(0, count);
}

test("a client that disconnects, and one that reads slowly, keep no place of others", async () => {
  const { server, state } = await startPage(`${"# padding\n".repeat(400_000)}one 1\n`);
  state.release.resolve();
  const slow = await openRaw(server.port);
  slow.socket.pause();
  slow.socket.write("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n");
  for (let count = 0; count < 20; count++) {
    const leaving = await openRaw(server.port);
    leaving.socket.write("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n");
    await leaving.until("HTTP/1.1 200");
    leaving.socket.destroy();
  }
  await expect.poll(async () => (await fetch(`${server.url}/metrics`)).status).toBe(200);
  slow.socket.resume();
  await slow.until("one 1\n");
  slow.socket.destroy();
});

test("HEAD has the headers of GET; other methods and paths are refused", async () => {
  const { server, state } = await startPage();
  state.release.resolve();
  const head = await fetch(`${server.url}/metrics`, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "6", ""]);
  const post = await fetch(`${server.url}/metrics`, { method: "POST" });
  expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  const elsewhere = await fetch(`${server.url}/metrics/secret`);
  expect(elsewhere.status).toBe(404);
  expect(await elsewhere.json()).toMatchObject({
    error: { message: "Nothing but /metrics is served at this address.", details: [{ reason: "PAGE_NOT_FOUND" }] },
  });
  expect((await fetch(`${server.url}/metrics?name=x`)).status).toBe(200);
});

test("text that cannot be written is a failure of one scrape", async () => {
  const errors: unknown[] = [];
  let fails = true;
  const write = async (): Promise<string> => {
    await sleep(0);
    if (fails) throw new Error("broken");
    return "one 1\n";
  };
  await using server = await startListener(createMetricsPage({ contentType: "text/plain", write }));
  expect((await fetch(`${server.url}/metrics`)).status).toBe(500);
  errors.push(...server.errors);
  expect(errors).toMatchObject([{ message: "broken" }]);
  fails = false;
  expect((await fetch(`${server.url}/metrics`)).status).toBe(200);
});
