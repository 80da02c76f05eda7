import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { RetryInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { createRetry } from "../../../src/cli/calls/retry.ts";

const systemError = (code: string) =>
  new ConnectError("broken", Code.Internal, undefined, undefined, Object.assign(new Error(code), { code }));

/** Returns an error with a RetryInfo. */
function withRetryInfo(code: Code, delayMs: number): ConnectError {
  const error = new ConnectError("", code);
  error.details.push({ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(delayMs) } });
  return error;
}

/** Returns the delay before the second attempt, without waiting for it. */
async function firstWaitMs(failure: unknown, delaysMs: number[]): Promise<number | undefined> {
  const stop = new AbortController();
  let seen: number | undefined;
  const onRetry = (_error: unknown, waitMs: number): void => {
    seen = waitMs;
    stop.abort();
  };
  const retry = createRetry({ delaysMs, signal: stop.signal, onRetry });
  await expect(retry(() => Promise.reject(failure))).rejects.toBe(failure);
  return seen;
}

async function attempt(failures: unknown[], delaysMs = [1, 1, 1]): Promise<{ tries: number; thrown?: unknown }> {
  const retry = createRetry({ delaysMs, signal: new AbortController().signal, onRetry: () => {} });
  let tries = 0;
  try {
    await retry(async () => {
      const failure = failures[tries++];
      if (failure !== undefined) throw failure;
    });
    return { tries };
  } catch (thrown) {
    return { tries, thrown };
  }
}

test.each([
  new ConnectError("", Code.Unavailable),
  new ConnectError("", Code.DeadlineExceeded),
  new ConnectError("", Code.Aborted),
  systemError("ECONNREFUSED"),
  systemError("ECONNRESET"),
  systemError("EPIPE"),
])("tries again after %s", async (failure) => {
  expect(await attempt([failure, failure])).toEqual({ tries: 3 });
});

test.each([
  new ConnectError("", Code.InvalidArgument),
  new ConnectError("", Code.AlreadyExists),
  new ConnectError("", Code.ResourceExhausted),
  new ConnectError("", Code.Unauthenticated),
  systemError("ENOTFOUND"),
  new TypeError("a mistake"),
])("fails immediately after %s", async (failure) => {
  expect(await attempt([failure])).toEqual({ tries: 1, thrown: failure });
});

test("gives up after the last delay", async () => {
  const failure = new ConnectError("", Code.Unavailable);
  expect(await attempt(Array.from({ length: 9 }, () => failure))).toEqual({ tries: 4, thrown: failure });
});

test("waits for rate limits without counting them as attempts", async () => {
  const limits = Array.from({ length: 4 }, () => withRetryInfo(Code.ResourceExhausted, 2));
  const failure = new ConnectError("", Code.Unavailable);
  // Each limit takes a quarter of a second.
  const attempts = await Promise.all([
    attempt(limits, []),
    attempt([...limits, failure, ...limits, failure], [1, 1]),
    attempt([...limits, failure], []),
  ]);
  expect(attempts).toEqual([{ tries: 5 }, { tries: 11 }, { tries: 5, thrown: failure }]);
});

test("counts attempts when a failing service sends a RetryInfo", async () => {
  const failure = withRetryInfo(Code.Unavailable, 2);
  expect(await attempt(Array.from({ length: 9 }, () => failure))).toEqual({ tries: 4, thrown: failure });
});

test.each([
  ["RetryInfo", withRetryInfo(Code.ResourceExhausted, 20_000)],
  ["RetryInfo of a failing service", withRetryInfo(Code.Unavailable, 20_000)],
  ["Retry-After", new ConnectError("", Code.ResourceExhausted, { "retry-after": "20" })],
  ["Retry-After of a failing service", new ConnectError("", Code.Unavailable, { "retry-after": "20" })],
])("waits for the time in %s, and not much longer", async (_where, failure) => {
  const waitMs = await firstWaitMs(failure, [300]);
  expect(waitMs).toBeGreaterThanOrEqual(20_000);
  expect(waitMs).toBeLessThanOrEqual(22_000);
});

test.each(["Wed, 21 Oct 2037 07:28:00 GMT", "-20", "20.5", "x", ""])("ignores a Retry-After of %j", async (header) => {
  expect(await firstWaitMs(new ConnectError("", Code.Unavailable, { "retry-after": header }), [8])).toBeLessThan(9);
});

test.each([withRetryInfo(Code.ResourceExhausted, 120_001), withRetryInfo(Code.Unavailable, 3_600_000)])(
  "fails immediately if the requested delay is too long",
  async (failure) => {
    expect(await attempt([failure])).toEqual({ tries: 1, thrown: failure });
  },
);

test("does not wait after the signal is aborted", async () => {
  const stop = new AbortController();
  const retry = createRetry({ delaysMs: [60_000], signal: stop.signal, onRetry: () => stop.abort() });
  const failure = new ConnectError("", Code.Unavailable);
  await expect(retry(() => Promise.reject(failure))).rejects.toBe(failure);
});
