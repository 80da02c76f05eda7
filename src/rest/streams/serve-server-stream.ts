import type { Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { createAsyncIterable, transformInvokeImplementation } from "@connectrpc/connect/protocol";
import type { Call } from "../calls/call.ts";
import type { CallOptions } from "../calls/serve-call.ts";
import type { ServableSpec } from "../compile-routes.ts";
import { chooseFraming } from "./framing/choose-framing.ts";
import { returnOnAbort } from "./return-on-abort.ts";
import { createStreamOutput, sendHeadOnly, type StreamOutput } from "./stream-output.ts";

type ServerStreamSpec = Extract<ServableSpec, { kind: "server_streaming" }>;

/** Reads and binds the request; answers it when it is wrong. */
type Receive = (call: Call, onMessage: (message: Message) => void) => void;

/** How long a method may run without a message before the client hears that it does, in milliseconds. */
const silenceMs = 100;

/**
 * Returns what runs a method that streams its answer. Its time is limited by the caller only.
 *
 * @returns a function that throws RestError for what is wrong with the request's head.
 */
export function createServerStreamServer(
  options: CallOptions,
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

/** Moves messages from the method to the client, one at a time. */
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
 * An interceptor around all others: when it gets an answer, they have let the call through, and the method is about to
 * run. If that then keeps silent, the head is sent before the first message.
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
