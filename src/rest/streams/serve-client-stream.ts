import type { Message } from "@bufbuild/protobuf";
import { type Interceptor, Code, ConnectError } from "@connectrpc/connect";
import { transformInvokeImplementation } from "@connectrpc/connect/protocol";
import { answer } from "../calls/answer.ts";
import type { RestRequest } from "../calls/call-context.ts";
import type { Call } from "../calls/call.ts";
import { abandonBody, hasNoBody } from "../calls/read-body.ts";
import type { ServableSpec } from "../calls/route.ts";
import { quote, RestError } from "../errors/rest-error.ts";
import { lineTypes } from "./framing/line-framing.ts";
import { type OpenBody, openBody } from "./open-body.ts";
import { readLines } from "./read-lines.ts";

interface ClientStreamOptions {
  readonly interceptors: Interceptor[];
  readonly maxBodyBytes: number;
}

type ClientStreamSpec = Extract<ServableSpec, { kind: "client_streaming" }>;

/**
 * Creates a function that runs a client-streaming method. The body is JSON lines, each of which is bound with path and
 * query like a whole body, or the bytes of google.api.HttpBody. The response is that of a unary method. Only the caller
 * can limit its duration.
 *
 * @returns a function that throws RestError if the head of the request is invalid.
 */
export function createClientStreamServer(options: ClientStreamOptions): (call: Call, spec: ClientStreamSpec) => void {
  const { interceptors } = options;

  return (call, spec) => {
    const { request, response, match, context, lifetime } = call;
    const { takesBody, takesBytes } = match.route.binding;
    // If the rule takes no body, path and query form one message.
    const isWhole = !takesBody || takesBytes;
    if (!isWhole) checkContentType(request);
    let body: OpenBody | undefined;
    let broken: RestError | undefined;

    async function* readMessages(opened: OpenBody): AsyncGenerator<Message> {
      const bind = compileBind(call, isWhole ? request.headers["content-type"] : undefined);
      try {
        if (isWhole) yield* readChunkMessages(opened.chunks, bind);
        else yield* readLineMessages(opened.chunks, options.maxBodyBytes, bind);
      } catch (error) {
        if (!(error instanceof RestError)) throw error;
        broken = error;
        throw toConnectError(error);
      }
    }

    async function run(): Promise<void> {
      body = openBody(request, lifetime.signal, options.maxBodyBytes);
      const invoke = transformInvokeImplementation(spec, context, interceptors);
      const message = await single(invoke(readMessages(body)));
      if (lifetime.signal.aborted) return;
      abandonBody(request, response);
      await answer(call, message, false);
      lifetime.done();
    }

    run()
      .catch((error: unknown) => {
        if (lifetime.signal.aborted) return;
        lifetime.done();
        abandonBody(request, response);
        // An error in the request takes precedence: the error of the method is only its consequence.
        call.fail(broken ?? error);
      })
      .finally(() => body?.close());
  };
}

/**
 * Compiles a function that binds one piece of the body. Path and query are the same for each message.
 *
 * @param contentType the content type of bytes, which is set in the first message only; undefined for lines.
 */
function compileBind({ match, query }: Call, contentType: string | undefined): BindPiece {
  const { binding } = match.route;
  return (body, isFirst) => {
    if (body !== undefined && !binding.takesBody) throw new RestError("BODY_NOT_ALLOWED", "this method takes no body");
    return binding.bind({ pathValues: match.values, query, body, contentType: isFirst ? contentType : undefined });
  };
}

function toConnectError(error: RestError): ConnectError {
  const code = error.reason === "BODY_TOO_LARGE" ? Code.ResourceExhausted : Code.InvalidArgument;
  return new ConnectError(error.message, code, undefined, undefined, error);
}

async function single(messages: AsyncIterable<Message>): Promise<Message> {
  let only: Message | undefined;
  for await (const message of messages) only ??= message;
  if (only === undefined) throw new Error("the call ended without a response");
  return only;
}

/** Checks the content type of lines. Without one, they are read as JSON, like other bodies. */
function checkContentType(request: RestRequest): void {
  const given = request.headers["content-type"];
  if (given === undefined || hasNoBody(request)) return;
  const [type = "", ...parameters] = given
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const isUtf8 = parameters.every(
    (parameter) => !parameter.startsWith("charset=") || /^charset="?utf-?8"?$/.test(parameter),
  );
  if ((lineTypes as readonly string[]).includes(type) && isUtf8) return;
  const message = `the body must be ${lineTypes.join(" or ")} in UTF-8, got content type ${quote(given)}`;
  throw new RestError("CONTENT_TYPE_UNSUPPORTED", message, { headers: { accept: lineTypes.join(", ") } });
}

/** Binds one piece of a body, with path and query, as if it were the whole body. */
type BindPiece = (piece: Buffer | undefined, isFirst: boolean) => Message;

/** Reads one message from each line of a body. A line may be at most `maxLineBytes` long. @throws RestError that names the line. */
async function* readLineMessages(
  chunks: AsyncIterable<Buffer>,
  maxLineBytes: number,
  bind: BindPiece,
): AsyncGenerator<Message> {
  for await (const { number, bytes } of readLines(chunks, maxLineBytes)) {
    let message: Message;
    try {
      message = bind(bytes, number === 1);
    } catch (error) {
      throw error instanceof RestError ? inLine(number, error) : error;
    }
    yield message;
  }
}

function inLine(number: number, { reason, message, violations, headers, cause }: RestError): RestError {
  const located = violations.map((violation) => ({
    ...violation,
    description: `in line ${number} ${violation.description}`,
  }));
  return new RestError(reason, `line ${number}: ${message}`, { violations: located, headers: { ...headers }, cause });
}

/** Reads one message from each chunk of a body, and one message from an empty body. */
async function* readChunkMessages(chunks: AsyncIterable<Buffer>, bind: BindPiece): AsyncGenerator<Message> {
  let isFirst = true;
  for await (const chunk of chunks) {
    yield bind(chunk, isFirst);
    isFirst = false;
  }
  if (isFirst) yield bind(undefined, true);
}
