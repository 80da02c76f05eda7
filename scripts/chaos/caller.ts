// Calls as a client makes them: with a deadline, and again after a failure that allows it.
import { Code, ConnectError, type CallOptions } from "@connectrpc/connect";
import { setTimeout as sleep } from "node:timers/promises";
import { ErrorInfoSchema, RequestInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import type { Findings } from "./findings.ts";
import type { CallKind } from "./latencies.ts";

/** What a call has come to: a response; an answer that it cannot be done; or nothing that says whether it was done. */
type Outcome<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unknown" };

type Call<Value> = (options: CallOptions) => Promise<Value>;

type Attempt = <Value>(
  kind: CallKind,
  what: string,
  call: Call<Value>,
  expected?: readonly string[],
) => Promise<Outcome<Value>>;

export interface Caller {
  /** Calls once. A reason that is not expected, and that no client may retry, is a finding. */
  readonly once: Attempt;
  /** Calls until there is an answer. The call must have a `request_id`, or change nothing. */
  readonly untilAnswered: Attempt;
}

export interface CallerOptions {
  readonly findings: Findings;
  /** Notes how long an attempt took. */
  readonly note: (kind: CallKind, startedAt: number, ms: number) => void;
  /** Counts the failures by what they are. */
  readonly count: (failure: string) => void;
}

/** Reasons after which a client may call again. */
const retryable = new Set(["SERVICE_UNAVAILABLE", "RATE_LIMITED", "DEADLINE_EXCEEDED", "TIMEOUT", "NOT_READY"]);

/** Codes that clients and proxies give to broken connections, and to answers that did not come in time. */
const broken = new Set([Code.Unavailable, Code.Aborted, Code.DeadlineExceeded, Code.Canceled]);

/**
 * What clients say when a stream was reset or refused, the connection ended while they sent, or HAProxy ended a response of a server
 * that went down between its message and its status.
 */
const connectionBroke =
  /^(?:(?:http\/2 )?stream closed with error code |write E[A-Z]+$|protocol error: missing status$)/i;

const deadlineMs = 5_000;
/** A client waits a little longer than the deadline that the server knows. */
const graceMs = 1_000;
/** Longer than a failover, the start of a server and the deadlines of silent connections together. */
const patienceMs = 90_000;

export function createCaller({ findings, note, count }: CallerOptions): Caller {
  const attempt = async <Value>(
    kind: CallKind,
    what: string,
    call: Call<Value>,
    expected: readonly string[] = [],
    onFailure: (failure: string) => void = () => {},
  ): Promise<Outcome<Value>> => {
    const startedAt = Date.now();
    const before = performance.now();
    try {
      const value = await call({
        timeoutMs: deadlineMs,
        headers: { "x-server-timeout": String(deadlineMs / 1_000) },
        signal: AbortSignal.timeout(deadlineMs + graceMs),
      });
      return { kind: "done", value };
    } catch (thrown) {
      const { reason, mayRetry, description } = describe(thrown);
      if (reason !== undefined && expected.includes(reason)) return { kind: "refused", reason };
      count(description);
      onFailure(description);
      if (mayRetry) return { kind: "unknown" };
      findings.add("a call failed in a way that clients may not retry", `${what}: ${description}: ${detail(thrown)}`);
      return reason === undefined ? { kind: "unknown" } : { kind: "refused", reason };
    } finally {
      note(kind, startedAt, performance.now() - before);
    }
  };
  return {
    once: (kind, what, call, expected) => attempt(kind, what, call, expected),
    async untilAnswered(kind, what, call, expected) {
      const end = Date.now() + patienceMs;
      const seen: string[] = [];
      for (let waitMs = 100; ; waitMs = Math.min(1_000, waitMs * 2)) {
        const outcome = await attempt(kind, what, call, expected, (failure) => seen.push(failure));
        if (outcome.kind !== "unknown") return outcome;
        if (Date.now() > end) {
          findings.add("a call did not succeed in time after many tries", `${what}: ${seen.join(", ")}`);
          return outcome;
        }
        await sleep(waitMs);
      }
    },
  };
}

interface Described {
  readonly reason: string | undefined;
  readonly mayRetry: boolean;
  readonly description: string;
}

function describe(thrown: unknown): Described {
  if (!(thrown instanceof ConnectError)) return describeFetch(thrown);
  const [info] = thrown.findDetails(ErrorInfoSchema);
  if (info !== undefined) {
    return { reason: info.reason, mayRetry: retryable.has(info.reason), description: info.reason };
  }
  // Without details, it is the client or the proxy that says so.
  const reset = thrown.code === Code.Internal && connectionBroke.test(thrown.rawMessage);
  return {
    reason: undefined,
    mayRetry: broken.has(thrown.code) || reset,
    description: `${Code[thrown.code]} of the client or proxy: ${thrown.rawMessage.replace(/:\d+$/, "").slice(0, 80)}`,
  };
}

/** What `fetch` throws when a connection breaks or the time is over. */
function describeFetch(thrown: unknown): Described {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { code = "" } = (error.cause ?? {}) as { code?: string };
  const mayRetry = (error instanceof TypeError && error.cause !== undefined) || error.name === "TimeoutError";
  return { reason: undefined, mayRetry, description: `${error.name} ${error.message} ${code}`.trim() };
}

function detail(thrown: unknown): string {
  if (!(thrown instanceof ConnectError)) return String(thrown instanceof Error ? thrown.stack : thrown);
  const [request] = thrown.findDetails(RequestInfoSchema);
  return `${thrown.rawMessage} (request ${request?.requestId ?? "unknown"})`;
}
