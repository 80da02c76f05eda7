// Calls whose responses are streams pass the same interceptors as others: their request is one message.
import {
  Code,
  ConnectError,
  type Interceptor,
  type StreamRequest,
  type UnaryRequest,
  createContextKey,
} from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";

type AnyFn = ReturnType<Interceptor>;

/** Like an interceptor, for requests of one message. */
type MessageInterceptor = (next: AnyFn) => (request: UnaryRequest) => ReturnType<AnyFn>;

/** The message of a call whose response is a stream, when it has been read. */
export const streamedMessageKey = createContextKey<UnaryRequest["message"] | undefined>(undefined, {
  description: "the message of a stream",
});

/** Creates an interceptor that sees the request of a stream as it does the request of another call. The method reads its message again. */
export function onOneMessage(interceptor: MessageInterceptor): Interceptor {
  return (next) => {
    const run = interceptor(next);
    return async (request) => {
      if (!request.stream) return run(request);
      const message = await readMessage(request);
      request.contextValues.set(streamedMessageKey, message);
      const { message: _messages, stream: _isStream, ...rest } = request;
      const again = { ...request, message: createAsyncIterable([message]) };
      return interceptor(() => next(again))({ ...rest, stream: false, message } as unknown as UnaryRequest);
    };
  };
}

/**
 * Reads the message of a call whose response is a stream. The caller sends it when the call has passed the gate.
 *
 * @throws ConnectError UNIMPLEMENTED for another number of messages, Error for a method that receives a stream.
 */
async function readMessage({ method, message: given }: StreamRequest): Promise<UnaryRequest["message"]> {
  const { name, methodKind } = method;
  if (methodKind !== "server_streaming")
    throw new Error(`${name} receives a stream, which the interceptor does not support`);
  const messages: UnaryRequest["message"][] = [];
  for await (const message of given) if (messages.push(message) > 1) break;
  const [message] = messages;
  if (message !== undefined && messages.length === 1) return message;
  throw new ConnectError(`${name} takes one message`, Code.Unimplemented);
}

/** Returns the messages of a stream, with another error if it ends with one. */
export async function* mapError<Each>(
  messages: AsyncIterable<Each>,
  map: (thrown: unknown) => unknown,
): AsyncIterable<Each> {
  try {
    yield* messages;
  } catch (thrown) {
    throw map(thrown);
  }
}
