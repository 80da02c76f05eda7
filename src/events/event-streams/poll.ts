// The endpoint of a receiver that polls (RFC 8936), and what else a receiver asks of its stream.
import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { randomUUID } from "node:crypto";
import {
  type EventStreamDelivery,
  EventStreamDeliverySchema,
  type InspectEventStreamRequest,
  type PollEventStreamRequest,
  type PollEventStreamResponse,
  PollEventStreamResponseSchema,
  type VerifyEventStreamRequest,
  type VerifyEventStreamResponse,
  VerifyEventStreamResponseSchema,
} from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import { callerOf, confirmOf, targetOf, visibleOf } from "../../access/evaluation/call.ts";
import { ServiceError, invalidField, notFound } from "../../errors/service-error.ts";
import { createSlots } from "../../identity/outgoing/slots.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { poll } from "../../resources/poll.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import { describeSetError } from "../signals/answer.ts";
import type { SignalDependencies } from "../signals/dependencies.ts";
import { createDisableStream } from "../signals/disable.ts";
import { type Waiting, readNextEvents } from "../signals/next-events.ts";
import { createLogOfStream } from "../signals/read-ahead.ts";
import { createSignEvent } from "../signals/security-event.ts";
import { type StoredStream, askForVerification, readStream } from "../signals/store.ts";
import type { ServedEventStreams } from "./set-state.ts";

/** How many events one answer has. */
const maxEvents = 100;

/** How long a call waits for an event, and how many do so at once: for the streams of an org, and in all. */
const longestWaitMs = 20_000;
const slots = { perKey: 4, total: 128 };

/** How often a call reads a stream anew that other calls are moving. */
const maxTries = 5;

const tooMany = (): ServiceError =>
  new ServiceError(
    "RATE_LIMITED",
    "several calls poll this event stream at once; let one wait for the answer of another",
    {
      retryAfterMs: 1_000,
    },
  );

/** Creates the function that reads the stream of a call. */
function createRead({ reader, dependencies: { database } }: ServedEventStreams) {
  return async (context: HandlerContext): Promise<StoredStream> => {
    const path = targetOf(context, patterns.EventStream);
    const found = await reader.lookup(path, visibleOf(context));
    const stream = found && (await readStream(database.reads, found));
    if (stream === undefined) throw notFound("event stream", formatReferences(patterns.EventStream, path));
    return stream;
  };
}

export function createPollEventStream(served: ServedEventStreams, dependencies: SignalDependencies) {
  const { database, requestTimeoutMs, signingKeys, issuer, signalCounts } = dependencies;
  const read = createRead(served);
  const log = createLogOfStream(dependencies);
  const disable = createDisableStream(dependencies, signalCounts);
  const sign = createSignEvent(signingKeys);
  const withSlot = createSlots({ ...slots, full: tooMany });

  const requireMayDeliver = async (stream: StoredStream): Promise<void> => {
    if (await log.mayDeliver(stream)) return;
    await disable(stream, "ACCESS_LOST");
    throw new ServiceError(
      "PERMISSION_DENIED",
      "the member of this event stream may no longer list the changes of its org",
    );
  };

  /** Acknowledges, counts that, and returns what waits, with the org of the stream. */
  const readNext = async (context: HandlerContext, told: Told): Promise<Waiting & { readonly orgId: string }> => {
    for (let left = maxTries; left > 0; left--) {
      const stream = await read(context);
      requirePolled(stream);
      const { org_id: orgId } = stream;
      if (stream.state !== "ACTIVE") return { events: [], hasMore: false, orgId };
      await requireMayDeliver(stream);
      const next = await readNextEvents(database.writes, log, stream, told.ids, told.error, issuer());
      if (next === undefined) continue;
      signalCounts.outcomes.acknowledged += told.acknowledged;
      signalCounts.outcomes.refused += told.refused;
      return { ...next, orgId };
    }
    throw tooMany();
  };

  return async (request: PollEventStreamRequest, context: HandlerContext): Promise<PollEventStreamResponse> => {
    const limit = Math.min(request.maxEvents ?? maxEvents, maxEvents);
    const told = readTold(request);
    const first = await readNext(context, told);
    const isAnswered = first.events.length > 0 || request.returnImmediately || limit === 0;
    const { events, hasMore } = isAnswered ? first : await waitForEvents(context, first.orgId);
    // Since the call was let in, the caller may have lost its credential or the permission.
    if (events.length > 0) await confirmOf(context)(database.reads, undefined);
    const sent = events.slice(0, limit);
    const sets = Object.fromEntries(
      await Promise.all(sent.map(async (event) => [event.jti, await sign(event)] as const)),
    );
    return create(PollEventStreamResponseSchema, { sets, moreAvailable: events.length > sent.length || hasMore });
  };

  async function waitForEvents(context: HandlerContext, orgId: string): Promise<Waiting> {
    const callMs = Math.min(context.timeoutMs() ?? Infinity, requestTimeoutMs);
    const nothing: Told = { ids: new Set(), error: undefined, acknowledged: 0, refused: 0 };
    const wait = () =>
      poll(
        () => readNext(context, nothing),
        ({ events }) => events.length > 0,
        { waitMs: longestWaitMs, callMs },
        context.signal,
      );
    return withSlot(orgId, wait).catch((error: unknown) => {
      // Those that find no slot are answered at once.
      if (error instanceof ServiceError && error.reason === "RATE_LIMITED") return { events: [], hasMore: false };
      throw error;
    });
  }
}

/** What a receiver has told of events. */
interface Told {
  readonly ids: ReadonlySet<string>;
  readonly error: string | undefined;
  /** How many it acknowledges, and how many it refuses. */
  readonly acknowledged: number;
  readonly refused: number;
}

function readTold({ ack, setErrs }: PollEventStreamRequest): Told {
  const refused = Object.entries(setErrs);
  const ids = new Set([...ack, ...Object.keys(setErrs)]);
  return { ids, error: describeRefused(refused.at(-1)), acknowledged: ack.length, refused: refused.length };
}

/** @param refused the id of an event, and what the receiver says of it; undefined if it has refused none. */
function describeRefused(refused: readonly [string, unknown] | undefined): string | undefined {
  if (refused === undefined) return undefined;
  const [jti, error] = refused;
  const described = `the receiver refused ${jti.slice(0, 128)}: ${describeSetError(error) ?? ""}`;
  return described.replaceAll("\0", "\u{fffd}").slice(0, 1_024);
}

function requirePolled({ push_url: pushUrl }: StoredStream): void {
  if (pushUrl === "") return;
  throw invalidField("path", "must be an event stream without a push_url: this one is pushed", "polled");
}

export function createVerifyEventStream(
  served: ServedEventStreams,
  { signalCounts }: Pick<SignalDependencies, "signalCounts">,
) {
  const read = createRead(served);
  const { database } = served.dependencies;
  return async ({ state }: VerifyEventStreamRequest, context: HandlerContext): Promise<VerifyEventStreamResponse> => {
    const stream = await read(context);
    const jti = randomUUID();
    const time = new Date(callerOf(context).time);
    const isAsked = await askForVerification(database.writes, stream, { id: jti, state, time });
    if (!isAsked) {
      const path = targetOf(context, patterns.EventStream);
      throw notFound("event stream", formatReferences(patterns.EventStream, path));
    }
    signalCounts.verifications++;
    return create(VerifyEventStreamResponseSchema, { jti });
  };
}

export function createInspectEventStream(served: ServedEventStreams) {
  const read = createRead(served);
  return async (_request: InspectEventStreamRequest, context: HandlerContext): Promise<EventStreamDelivery> => {
    const stream = await read(context);
    const isFailing = stream.failing_since !== null;
    return create(EventStreamDeliverySchema, {
      deliveredRevision: stream.cursor_revision,
      attempts: stream.attempts,
      failingSince: toTimestamp(stream.failing_since),
      nextAttemptTime: isFailing ? toTimestamp(stream.next_attempt_time) : undefined,
      statusCode: stream.status_code,
      error: stream.error,
    });
  };
}
