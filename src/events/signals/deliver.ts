// Pushes what a stream has to deliver (RFC 8935), in the order of the log: each event until the receiver has accepted it. After three days
// without one, the stream is disabled, and its cursor stays, so nothing is lost. A server that ends leaves a lease that ends and a cursor
// that has not moved, so another one sends the same event again.
import packageJson from "../../../package.json" with { type: "json" };
import type { Database } from "../../database/database.ts";
import type { SendGuarded } from "../../identity/outgoing/guarded-request.ts";
import type { Sealer } from "../../identity/sealer.ts";
import { observe } from "../../measures/histogram.ts";
import { endOfLog } from "../deliveries/due.ts";
import { type Position, isSame } from "../deliveries/lease.ts";
import { type Result, post, sendLimits } from "../deliveries/send.ts";
import {
  type HeldTurn,
  type Stop,
  type TakeTurn,
  createTakeTurn,
  leaseMs,
  nextTryAfter,
  patienceMs,
} from "../deliveries/turn.ts";
import { describeAnswer } from "./answer.ts";
import type { SignalCounts } from "./counts.ts";
import type { DisableStream } from "./disable.ts";
import type { LogOfStream } from "./read-ahead.ts";
import { type SecurityEvent, type SignEvent, verificationOf } from "./security-event.ts";
import { type StoredStream, beginTry, claimStream, endTry, waitForOrg } from "./store.ts";

export interface DeliverDependencies {
  readonly database: Pick<Database, "writes">;
  readonly log: LogOfStream;
  readonly sign: SignEvent;
  readonly send: SendGuarded;
  readonly sealer: Pick<Sealer, "open">;
  readonly disable: DisableStream;
  readonly counts: SignalCounts;
  /** The URL of the service. */
  readonly issuer: () => string;
}

interface Turn extends HeldTurn {
  readonly stream: StoredStream;
  /** Since when the receiver has failed; null if it has not. */
  failingSince: Date | null;
}

/** What is recorded when an event was accepted. */
interface Done {
  readonly cursor?: Position;
  readonly verificationId?: string;
}

/** How the stream goes on: with the next event, or not in this turn. */
type Step = "next" | Stop;

export function createDeliverSignals(dependencies: DeliverDependencies): TakeTurn {
  const { database, issuer } = dependencies;
  const { writes } = database;
  const attempt = createAttempt(dependencies);

  const sendVerification = async (turn: Turn): Promise<Step> => {
    const event = verificationOf(turn.stream, issuer());
    return event === undefined ? "next" : attempt(turn, event, { verificationId: event.jti });
  };

  const run = async (turn: Turn): Promise<Stop> => {
    const { stream, lease, clock, endMs } = turn;
    const verified = await sendVerification(turn);
    if (verified !== "next") return verified;
    let after: Position = {
      time: stream.cursor_time,
      revision: stream.cursor_revision,
      position: stream.cursor_position,
    };
    const moveTo = (cursor: Position): Promise<boolean> => endTry(writes, lease, stream, { cursor, ...nothingWrong });
    while (clock().getTime() < endMs) {
      const ahead = await dependencies.log.next(stream, after);
      if (ahead === undefined) {
        await moveTo(endOfLog(after, stream.noted_time));
        return {};
      }
      for (const { position, events } of ahead.entries) {
        for (const [index, event] of events.entries()) {
          turn.signal.throwIfAborted();
          const step = await attempt(turn, event, index === events.length - 1 ? { cursor: position } : {});
          if (step !== "next") return step;
        }
      }
      after = ahead.end;
      if (ahead.isHeld) {
        await waitForOrg(writes, lease, clock());
        return {};
      }
      const sent = ahead.entries.at(-1);
      // Its last attempt has moved the cursor there.
      if (sent !== undefined && isSame(sent.position, after)) continue;
      if (!(await moveTo(after))) return {};
    }
    return { nextAttemptTime: clock() };
  };

  return createTakeTurn(writes, {
    table: "event_streams",
    claim: claimStream,
    run: (stream, turn) => run({ ...turn, stream, failingSince: stream.failing_since }),
  });
}

const nothingWrong = { failingSince: null, statusCode: 0, error: "" };

/** Creates the function that sends an event, and records what came of it. */
function createAttempt(dependencies: DeliverDependencies) {
  const { database, log, sign, send, sealer, disable, counts } = dependencies;
  const { writes } = database;

  const recordFailure = async (turn: Turn, result: Result): Promise<Step> => {
    const { stream, lease, clock } = turn;
    counts.outcomes.failed++;
    const now = clock();
    const failingSince = turn.failingSince ?? now;
    const nextAttemptTime = nextTryAfter(failingSince, now);
    const wrong = { statusCode: result.status, error: describeAnswer(result) };
    const isHeld = await endTry(writes, lease, stream, { failingSince, ...wrong, nextAttemptTime });
    if (isHeld && result.outcome === "gone") await disable(stream, "GONE");
    else if (isHeld && now.getTime() - failingSince.getTime() >= patienceMs) await disable(stream, "FAILING");
    return {};
  };

  return async (turn: Turn, event: SecurityEvent, done: Done): Promise<Step> => {
    const { stream, lease, clock, signal } = turn;
    if (!(await log.mayDeliver(stream))) {
      await disable(stream, "ACCESS_LOST");
      return {};
    }
    const body = await sign(event);
    const headers = headersOf(body, authorizationOf(sealer, stream));
    const leaseEnd = new Date(clock().getTime() + leaseMs);
    if (!(await beginTry(writes, lease, stream, leaseEnd))) return { nextAttemptTime: clock() };
    // A server that stood still since would send what another one may have sent meanwhile.
    if (clock().getTime() > leaseEnd.getTime() - sendLimits.timeoutMs) return {};
    const result = await post(send, stream.push_url, headers, body, signal);
    observe(counts.durations, result.durationMs / 1_000);
    if (result.status !== 202) return recordFailure(turn, result);
    counts.outcomes.delivered++;
    turn.failingSince = null;
    const isHeld = await endTry(writes, lease, stream, { ...done, ...nothingWrong, nextAttemptTime: clock() });
    return isHeld ? "next" : {};
  };
}

function headersOf(body: string, authorization: string | undefined): Record<string, string> {
  return {
    "content-type": "application/secevent+jwt",
    accept: "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "user-agent": `tenantry/${packageJson.version}`,
    ...(authorization !== undefined && { authorization }),
  };
}

function authorizationOf(sealer: Pick<Sealer, "open">, stream: StoredStream): string | undefined {
  const { id, sealed_authorization: sealed } = stream;
  if (sealed === null) return undefined;
  const opened = sealer.open("push authorization", id, sealed);
  if (opened === undefined) throw new Error(`the authorization of the event stream ${id} was sealed with another key`);
  return opened.toString();
}
