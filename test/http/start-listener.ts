import { type HttpHandler, type HttpResponse, isHttp2 } from "../../src/http/http-messages.ts";
import { createListener, type Listener } from "../../src/http/listener/listener.ts";
import type { ListenerLimits } from "../../src/http/listener/protocol-servers.ts";

export interface StartedListener extends AsyncDisposable {
  readonly listener: Listener;
  readonly port: number;
  readonly url: string;
  /** The errors that the listener reported. */
  readonly errors: unknown[];
}

const limits: ListenerLimits = {
  maxHeaderBytes: 16_384,
  headersTimeoutMs: 5000,
  requestTimeoutMs: 5000,
  keepAliveTimeoutMs: 5000,
  maxConcurrentStreams: 100,
};

/** The grace period of a close that must not last until its end: longer than any test may take. */
export const endlessMs = 2 ** 31 - 1;

/** Sends the headers of a response. */
export function beginAnswer(response: HttpResponse): void {
  if (isHttp2(response)) response.writeHead(200);
  else response.flushHeaders();
}

/** Listens on a free loopback port until the end of the block. */
export async function startListener(
  handler: HttpHandler,
  changed: Partial<ListenerLimits> = {},
): Promise<StartedListener> {
  const errors: unknown[] = [];
  const listener = createListener({
    handler,
    limits: { ...limits, ...changed },
    onError: (error) => errors.push(error),
  });
  const { port } = await listener.listen(0, "127.0.0.1");
  return {
    listener,
    port,
    url: `http://127.0.0.1:${port}`,
    errors,
    [Symbol.asyncDispose]: () => listener.close(0),
  };
}
