import type { Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { createAsyncIterable, transformInvokeImplementation } from "@connectrpc/connect/protocol";
import type { Call } from "../calls/call.ts";
import type { ServableSpec } from "../calls/route.ts";
import { chooseFraming } from "./framing/choose-framing.ts";
import type { EventId } from "./framing/event-framing.ts";
import { type OutputOptions, type StreamOutput, createStreamOutput, sendHeadOnly } from "./stream-output.ts";

type ServerStreamSpec = Extract<ServableSpec, { kind: "server_streaming" }>;

interface ServerStreamOptions extends OutputOptions {
  readonly interceptors: Interceptor[];
  readonly eventId: EventId | undefined;
}

/** Reads the request and binds its message. Responds with an error if the request is invalid. */
type Receive = (call: Call, onMessage: (message: Message) => void) => void;

/** How long a method may run without sending a message before the head is sent alone, in milliseconds. */
const silenceMs = 100;

/**
 * Creates a function that runs a server-streaming method. Only the caller can limit its duration.
 *
 * @returns a function that throws RestError if the head of the request is invalid.
 */
export function createServerStreamServer(
  options: ServerStreamOptions,
  receive: Receive,
): (call: Call, spec: ServerStreamSpec) => void {
  const { interceptors, eventId } = options;

  return (call, spec) => {
    const { request, response, match, presentation, context, lifetime } = call;
    const framing = chooseFraming(request, match.route.response, presentation, eventId);
    receive(call, (message) => {
      if (request.method === "HEAD") {
        lifetime.done();
        sendHeadOnly(request, response, framing);
        return;
      }
      const output = createStreamOutput(request, response, framing, context.responseHeader, options);
      call.fail = (thrown) => output.fail(thrown);
      const { signal } = lifetime;
      const announced = [announce(signal, output), ...interceptors];
      const invoke = transformInvokeImplementation(abortable(spec, signal), context, announced);
      void run(call, invoke(createAsyncIterable([message])), output);
    });
  };
}

/** Writes the messages of the method to the client, one at a time. */
async function run({ lifetime }: Call, messages: AsyncIterable<Message>, output: StreamOutput): Promise<void> {
  const { signal } = lifetime;
  try {
    for await (const message of messages) {
      if (signal.aborted) return;
      const wait = output.write(message);
      if (wait !== undefined) await wait;
      if (signal.aborted) return;
    }
    if (signal.aborted) return;
    lifetime.done();
    output.end();
  } catch (error) {
    if (signal.aborted) return;
    lifetime.done();
    output.fail(error);
  }
}

/**
 * Returns the outermost interceptor. When `next` returns, the other interceptors have let the call through and the method
 * is about to run. If the method then sends no message for `silenceMs`, the head is sent alone.
 */
function announce(signal: AbortSignal, output: StreamOutput): Interceptor {
  return (next) => async (request) => {
    const answer = await next(request);
    if (!signal.aborted) output.openAfter(silenceMs);
    return answer;
  };
}

function abortable(spec: ServerStreamSpec, signal: AbortSignal): ServerStreamSpec {
  return { ...spec, impl: (request, context) => returnOnAbort(spec.impl(request, context), signal) };
}

/**
 * Wraps a stream so that `return` of its iterator is called as soon as the signal aborts, not only when the next message is
 * requested. This also ends a stream that is waiting for a slow client. If a generator is awaiting something itself, its
 * `finally` block runs only after that settles, unless the generator uses the signal.
 */
function returnOnAbort<T>(messages: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = messages[Symbol.asyncIterator]();
      let returned: Promise<IteratorResult<T>> | undefined;
      async function giveBack(): Promise<IteratorResult<T>> {
        await iterator.return?.();
        return { done: true, value: undefined };
      }
      function end(): Promise<IteratorResult<T>> {
        return (returned ??= giveBack());
      }
      // The call has ended, so an error thrown by `return` is ignored.
      signal.addEventListener("abort", () => void end().catch(() => undefined), { once: true });
      return { next: () => (signal.aborted ? end() : iterator.next()), return: end };
    },
  };
}
