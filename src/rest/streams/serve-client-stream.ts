import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { transformInvokeImplementation } from "@connectrpc/connect/protocol";
import { answer } from "../calls/answer.ts";
import type { RestRequest } from "../calls/call-context.ts";
import type { Call } from "../calls/call.ts";
import { abandonBody, hasNoBody } from "../calls/read-body.ts";
import type { CallOptions } from "../calls/serve-call.ts";
import type { ServableSpec } from "../compile-routes.ts";
import { quote, RestError } from "../errors/rest-error.ts";
import { lineTypes } from "./framing/line-framing.ts";
import { openBody, type OpenBody } from "./open-body.ts";
import { type BindPiece, readChunkMessages, readLineMessages } from "./read-messages.ts";

type ClientStreamSpec = Extract<ServableSpec, { kind: "client_streaming" }>;

/**
 * Returns what runs a method that takes a stream: the body is JSON in lines, each bound with path and query as a whole
 * body would be, or the bytes of google.api.HttpBody. The answer is that of a unary method. Its time is limited by the
 * caller only.
 *
 * @returns a function that throws RestError for what is wrong with the request's head.
 */
export function createClientStreamServer(options: CallOptions): (call: Call, spec: ClientStreamSpec) => void {
  const { interceptors } = options;

  return (call, spec) => {
    const { request, response, match, context, lifetime } = call;
    const { takesBody, takesBytes } = match.route.binding;
    // Without a body, path and query make one message.
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
      await answer(call, message);
      lifetime.done();
    }

    run()
      .catch((error: unknown) => {
        if (lifetime.signal.aborted) return;
        lifetime.done();
        abandonBody(request, response);
        // What the caller did wrong comes first; what the method threw is what it made of that.
        call.fail(broken ?? error);
      })
      .finally(() => body?.close());
  };
}

/**
 * Path and query are the same in each message.
 *
 * @param contentType of bytes, which the first message tells. Lines have none of their own.
 */
function compileBind({ match, query }: Call, contentType: string | undefined): BindPiece {
  const { binding } = match.route;
  return (body, isFirst) => {
    if (body !== undefined && !binding.takesBody) throw new RestError("BODY_NOT_ALLOWED", "this method takes no body");
    return binding.bind({ pathValues: match.values, query, body, contentType: isFirst ? contentType : undefined });
  };
}

/** The method is told in its own terms. */
function toConnectError(error: RestError): ConnectError {
  const code = error.reason === "BODY_TOO_LARGE" ? Code.ResourceExhausted : Code.InvalidArgument;
  return new ConnectError(error.message, code, undefined, undefined, error);
}

async function single(messages: AsyncIterable<Message>): Promise<Message> {
  let only: Message | undefined;
  for await (const message of messages) only ??= message;
  if (only === undefined) throw new Error("the call ended without an answer");
  return only;
}

/** Lines without a content type are read as JSON too, as other bodies are. */
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
