// A list as lines of JSON: all of its items from a page on, each in a line. The pages are read one after the other, each as a call of its own
// that passes the gate and the interceptors, so what a caller may see is decided for each page. Only one page is in memory.
import { Code, ConnectError, type HandlerContext, type Interceptor } from "@connectrpc/connect";
import type { Message } from "@bufbuild/protobuf";
import type { Call } from "../calls/call.ts";
import { invokeUnary } from "../calls/invoke-unary.ts";
import { createResponseHeaders } from "../calls/lazy-headers.ts";
import type { ServableSpec } from "../calls/route.ts";
import type { Framing } from "./framing/framing.ts";
import { createLineFraming } from "./framing/line-framing.ts";
import { type OutputOptions, createStreamOutput, sendHeadOnly } from "./stream-output.ts";

type UnarySpec = Extract<ServableSpec, { kind: "unary" }>;

interface ListLinesOptions extends OutputOptions {
  readonly requestGate: ((context: HandlerContext) => void | Promise<void>) | undefined;
  readonly beforeMessage: ((context: HandlerContext, bodyBytes: number) => Promise<void> | undefined) | undefined;
  readonly interceptors: Interceptor[];
  /** How long a page may take, and how long its client may read nothing. */
  readonly timeoutMs: number | undefined;
}

/** Reads the request and binds its message. Responds with an error if the request is invalid. */
type Receive = (call: Call, onMessage: (message: Message) => void) => void;

/** Creates a function that serves a list whose first page the gate has let through. Only the caller can limit how long it takes in all. */
export function createListLinesServer(
  options: ListLinesOptions,
  receive: Receive,
): (call: Call, spec: UnarySpec, lines: NonNullable<Call["lines"]>) => void {
  const { requestGate, beforeMessage, interceptors, timeoutMs } = options;

  const readFirst = (call: Call, spec: UnarySpec, message: Message): Promise<Message> =>
    inTime(call.context, timeoutMs, (context) => invokeUnary(spec, context, message, interceptors));

  const readNext = (call: Call, spec: UnarySpec, message: Message): Promise<Message> => {
    const headers = { responseHeader: createResponseHeaders(), responseTrailer: createResponseHeaders() };
    return inTime({ ...call.context, ...headers }, timeoutMs, async (context) => {
      await requestGate?.(context);
      await beforeMessage?.(context, 0);
      return invokeUnary(spec, context, message, interceptors);
    });
  };

  const send = async (
    call: Call,
    spec: UnarySpec,
    { pages, contentType }: NonNullable<Call["lines"]>,
    message: Message,
  ): Promise<void> => {
    const { request, response, lifetime, presentation, context } = call;
    const { signal } = lifetime;
    let token = "";
    const lines = createLineFraming(contentType, (item) => pages.write(item, presentation));
    const framing: Framing = { ...lines, failure: (error) => lines.failure(withToken(error, token)) };
    const output = createStreamOutput(request, response, framing, context.responseHeader, options);
    call.fail = (thrown) => output.fail(thrown);
    try {
      let page = await readFirst(call, spec, message);
      if (signal.aborted) return;
      if (request.method === "HEAD") {
        lifetime.done();
        return sendHeadOnly(request, response, framing);
      }
      for (;;) {
        for (const item of pages.itemsOf(page)) {
          const wait = output.write(item);
          if (wait !== undefined) await untilRead(wait, timeoutMs);
          if (signal.aborted) return;
        }
        token = pages.nextTokenOf(page);
        if (token === "") break;
        page = await readNext(call, spec, pages.withToken(message, token));
        if (signal.aborted) return;
      }
      lifetime.done();
      output.end();
    } catch (error) {
      if (signal.aborted) return;
      lifetime.done();
      output.fail(error);
    }
  };

  return (call, spec, lines) => receive(call, (message) => void send(call, spec, lines, message));
}

/** Adds the token of the page that failed to the last line, so that a client can go on from there. */
function withToken(error: string, token: string): string {
  return JSON.stringify({ ...(JSON.parse(error) as object), next_page_token: token });
}

/**
 * Waits for room for what follows.
 *
 * @throws ConnectError when the client does not read. The page is not kept for it, and the answer ends with where to go on.
 */
async function untilRead(room: Promise<unknown>, limitMs: number | undefined): Promise<void> {
  if (limitMs === undefined) {
    await room;
    return;
  }
  const { promise: late, reject } = Promise.withResolvers<never>();
  const error = (): ConnectError =>
    new ConnectError(`the client read nothing for ${limitMs} ms`, Code.DeadlineExceeded);
  const timer = setTimeout(() => reject(error()), limitMs);
  try {
    await Promise.race([room, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a page with a context that ends with the call, or after some time. */
async function inTime(
  context: HandlerContext,
  limitMs: number | undefined,
  read: (context: HandlerContext) => Promise<Message>,
): Promise<Message> {
  if (limitMs === undefined) return read(context);
  const page = new AbortController();
  const end = (): void => page.abort(context.signal.reason);
  const deadline = Date.now() + limitMs;
  const late = new ConnectError(`the page took longer than ${limitMs} ms`, Code.DeadlineExceeded);
  const timer = setTimeout(() => page.abort(late), limitMs);
  context.signal.addEventListener("abort", end, { once: true });
  try {
    const timeoutMs = (): number => Math.min(deadline - Date.now(), context.timeoutMs() ?? Infinity);
    return await read({ ...context, signal: page.signal, timeoutMs });
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener("abort", end);
  }
}
