// Pushes what a stream has to deliver (RFC 8935), in the order of the log: each event until the receiver has accepted it. After three days
// without one, the stream is disabled, and its cursor stays, so nothing is lost. A server that ends leaves a lease that ends and a cursor
// that has not moved, so another one sends the same event again.
import { randomUUID } from "node:crypto";
import packageJson from "../../../package.json" with { type: "json" };
import type { Database } from "../../database/database.ts";
import type { SendGuarded } from "../../identity/outgoing/guarded-request.ts";
import type { Sealer } from "../../identity/sealer.ts";
import { observe } from "../../measures/histogram.ts";
import { type DuePlace, type Lease, type Position, afterAll, isSame, release } from "../deliveries/lease.ts";
import { type Result, post, sendLimits } from "../deliveries/send.ts";
import { leaseMs, nextTryAfter, patienceMs } from "../deliveries/turn.ts";
import { describeAnswer } from "./answer.ts";
import type { SignalCounts } from "./counts.ts";
import type { DisableStream } from "./disable.ts";
import type { LogOfStream } from "./read-ahead.ts";
import { type SecurityEvent, type SignEvent, verificationEvent } from "./security-event.ts";
import { type StoredStream, beginTry, claimStream, endTry } from "./store.ts";

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

/** Pushes events of one stream, for some seconds at most. Rejects when the database fails; what is not recorded is sent again. */
export type DeliverSignals = (place: DuePlace, signal: AbortSignal) => Promise<void>;

interface Turn {
  readonly stream: StoredStream;
  readonly lease: Lease;
  /** Aborted when the server ends. */
  readonly signal: AbortSignal;
  /** The clock of the database. */
  readonly clock: () => Date;
  /** Since when the receiver has failed; null if it has not. */
  failingSince: Date | null;
}

/** What is recorded when an event was accepted. */
interface Done {
  readonly cursor?: Position;
  readonly verificationId?: string;
}

/** How the stream goes on: with the next event, or when it is due again; undefined if that is recorded, or somebody else has it. */
type Step = "next" | { readonly nextAttemptTime?: Date };

/** How long a server pushes events of one stream before others get their turn. */
const turnMs = 10_000;

/** When a stream is tried again that could not be read. */
const retryMs = 30_000;

export function createDeliverSignals(dependencies: DeliverDependencies): DeliverSignals {
  const { database, issuer } = dependencies;
  const { writes } = database;
  const attempt = createAttempt(dependencies);

  const sendVerification = async (turn: Turn): Promise<Step> => {
    const { verification_id: id, verification_state: state, verification_time: time } = turn.stream;
    if (id === null) return "next";
    const event = verificationEvent(turn.stream, { id, state: state ?? "", time: time ?? turn.clock() }, issuer());
    return attempt(turn, event, { verificationId: id });
  };

  const run = async (turn: Turn): Promise<Exclude<Step, "next">> => {
    const { stream, lease, clock } = turn;
    const endMs = clock().getTime() + turnMs;
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
        await moveTo({ ...after, position: afterAll });
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
      const sent = ahead.entries.at(-1);
      // Its last attempt has moved the cursor there.
      if (sent !== undefined && isSame(sent.position, after)) continue;
      if (!(await moveTo(after))) return {};
    }
    return { nextAttemptTime: clock() };
  };

  return async (place, signal) => {
    const readAtMs = performance.now();
    const clock = (): Date => new Date(place.nowMs + performance.now() - readAtMs);
    const lease = { place, id: randomUUID() };
    const stream = await claimStream(writes, lease, { now: clock(), end: new Date(clock().getTime() + leaseMs) });
    if (stream === undefined) return;
    try {
      const { nextAttemptTime } = await run({ stream, lease, signal, clock, failingSince: stream.failing_since });
      await release(writes, "event_streams", lease, nextAttemptTime);
    } catch (error) {
      // It would fail again and again, and take the turns of others.
      await release(writes, "event_streams", lease, signal.aborted ? undefined : new Date(clock().getTime() + retryMs));
      throw error;
    }
  };
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
