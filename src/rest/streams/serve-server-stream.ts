import type { Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { createAsyncIterable, transformInvokeImplementation } from "@connectrpc/connect/protocol";
import type { Call } from "../calls/call.ts";
import type { ServableSpec } from "../calls/route.ts";
import { chooseFraming } from "./framing/choose-framing.ts";
import type { EventId } from "./framing/event-framing.ts";
import { returnOnAbort } from "./return-on-abort.ts";
import { createStreamOutput, type OutputOptions, sendHeadOnly, type StreamOutput } from "./stream-output.ts";

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
