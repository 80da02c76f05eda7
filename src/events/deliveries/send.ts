import {
  RequestError,
  type SendGuarded,
  createSendGuarded,
  resolveWithDns,
} from "../../identity/outgoing/guarded-request.ts";

/** How long a receiver may take for its whole answer. */
export const sendLimits = { timeoutMs: 15_000, maxBytes: 1_024 };

/** @param networks the prefixes of addresses, besides public ones, to which it connects. */
export const createSendToWebhook = (networks: readonly string[]): SendGuarded =>
  createSend(networks, "the URL of the webhook");

export const createSendToStream = (networks: readonly string[]): SendGuarded =>
  createSend(networks, "the push_url of the event stream");

function createSend(networks: readonly string[], called: string): SendGuarded {
  return createSendGuarded({ networks, resolveHost: resolveWithDns, ...sendLimits, longer: "cut", called });
}

/** What the receiver made of a request. */
export interface Result {
  readonly outcome: "accepted" | "failed" | "gone";
  /** 0 if there was no answer. */
  readonly status: number;
  /** The first bytes of the answer. */
  readonly answer: string;
  /** Why there was none; empty if there was one. */
  readonly error: string;
  readonly durationMs: number;
}

/**
 * Sends a request, and says what came of it.
 *
 * @param signal gives it up.
 * @throws the reason of the signal. The receiver may have got the request.
 */
export async function post(
  send: SendGuarded,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<Result> {
  const startedAt = performance.now();
  const end = (): number => Math.round(performance.now() - startedAt);
  try {
    const answer = await send(url, { method: "POST", headers, body, signal });
    const { status } = answer;
    const outcome = status >= 200 && status < 300 ? "accepted" : status === 410 ? "gone" : "failed";
    return { outcome, status, answer: toText(answer.body), error: "", durationMs: end() };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof RequestError)) throw error;
    return { outcome: "failed", status: 0, answer: "", error: error.message, durationMs: end() };
  }
}

/** A text that PostgreSQL stores. */
const toText = (bytes: Buffer): string => bytes.toString("utf8").replaceAll("\0", "\u{fffd}");
