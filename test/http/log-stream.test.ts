import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { withAccessLog } from "../../src/http/access-log.ts";
import { createLogStream } from "../../src/http/log-stream.ts";
import { startListener } from "./start-listener.ts";

function createRecorded() {
  const written: string[] = [];
  return { written, stream: createLogStream({ write: (text) => written.push(text) }) };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

test("collected lines are written together, soon", () => {
  const { written, stream } = createRecorded();
  stream.collect("a\n");
  stream.collect("b\n");
  expect(written).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(written).toEqual(["a\nb\n"]);
  stream.collect("c\n");
  vi.advanceTimersByTime(100);
  expect(written).toEqual(["a\nb\n", "c\n"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("many are written at once", () => {
  const { written, stream } = createRecorded();
  for (let count = 0; count < 200; count++) stream.collect(`${"x".repeat(99)}\n`);
  expect(written.join("")).toHaveLength(16_400);
  stream.flush();
  expect(written.join("")).toHaveLength(20_000);
});

test("other lines are written at once, and in order", () => {
  const { written, stream } = createRecorded();
  stream.collect("request\n");
  stream.write("stopping\n");
  expect(written.join("")).toBe("request\nstopping\n");
  stream.flush();
  expect(written.join("")).toBe("request\nstopping\n");
});

test("a logger collects the lines of requests, and text from clients cannot end one", async () => {
  vi.useRealTimers();
  const { written, stream } = createRecorded();
  const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  const handler = withAccessLog((_request, response) => void response.end("x"), { logger, enabled: true });
  await using server = await startListener(handler);
  const path = '/"},{"level":60';
  await (
    await fetch(`${server.url}${path.replaceAll('"', "%22")}\u2028`, { headers: { "x-request-id": '"}' } })
  ).text();
  await expect.poll(() => written).toHaveLength(1);
  const line = JSON.parse(written[0] ?? "") as Record<string, unknown>;
  expect(line).toMatchObject({ level: 30, method: "GET", status: 200, bytes: 1, msg: "request" });
  expect(Date.parse(String(line["time"]))).toBeGreaterThan(Date.now() - 60_000);
  logger.level = "warn";
  await (await fetch(server.url)).text();
  logger.warn("still here");
  expect(written).toHaveLength(2);
});
