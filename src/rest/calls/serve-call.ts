import type { Message } from "@bufbuild/protobuf";
import type { ContextValues, HandlerContext, Interceptor } from "@connectrpc/connect";
import { invokeUnaryImplementation } from "@connectrpc/connect/protocol";
import {
  type CallLifetime,
  createCallContext,
  type RestRequest,
  type RestResponse,
  watchCall,
} from "./call-context.ts";
import type { Route } from "../compile-routes.ts";
import { abandonBody, hasNoBody, readBody } from "./read-body.ts";
import { RestError } from "../errors/rest-error.ts";
import type { RouteMatch } from "../routing/route-trie.ts";
import { sendResponse, toNodeHeaders } from "./send-response.ts";
import type { FailureWriter } from "../errors/write-failure.ts";

interface CallOptions {
  readonly interceptors: Interceptor[];
  readonly contextValues: ((request: RestRequest) => ContextValues) | undefined;
  readonly maxBodyBytes: number;
  readonly timeoutMs: number | undefined;
  readonly fail: FailureWriter;
}

/** A request whose route is found. */
interface Call {
  readonly request: RestRequest;
  readonly response: RestResponse;
  readonly match: RouteMatch<Route>;
  readonly query: string;
  readonly lifetime: CallLifetime;
}

/** Returns what runs the method of a route: reads the body, binds the request, calls, answers. */
export function createCallServer(
  options: CallOptions,
): (request: RestRequest, response: RestResponse, match: RouteMatch<Route>, query: string) => void {
  const { interceptors, contextValues, maxBodyBytes, timeoutMs, fail } = options;

  function finish(call: Call, thrown: unknown): void {
    call.lifetime.done();
    fail(call.request, call.response, thrown);
  }

  function invoke(call: Call, body: Buffer | undefined): void {
    const { request, response, lifetime, match } = call;
    const { spec, binding, encode } = match.route;
    let context: HandlerContext;
    let answer: Promise<Message>;
    try {
      const contentType = request.headers["content-type"];
      const message = binding.bind({ pathValues: match.values, query: call.query, body, contentType });
      context = createCallContext(spec.method, request, lifetime, contextValues?.(request));
      answer = invokeUnaryImplementation(spec, context, message, interceptors);
    } catch (error) {
      finish(call, error);
      return;
    }
    answer
      .then((message) => {
        if (lifetime.signal.aborted) return;
        const encoded = encode(message);
        const headers = toNodeHeaders(context.responseHeader);
        headers["content-type"] = encoded.contentType;
        sendResponse(request, response, encoded.status, headers, encoded.body);
        lifetime.done();
      })
      .catch((error: unknown) => {
        if (!lifetime.signal.aborted) finish(call, error);
      });
  }

  return (request, response, match, query) => {
    const lifetime = watchCall(response, timeoutMs, (error) => {
      abandonBody(request, response);
      fail(request, response, error);
    });
    const call = { request, response, match, query, lifetime };
    if (hasNoBody(request)) {
      invoke(call, undefined);
      return;
    }
    const { takesBody } = match.route.binding;
    readBody(request, takesBody ? maxBodyBytes : 0, (body) => {
      if (lifetime.signal.aborted) return;
      if (!(body instanceof RestError)) {
        invoke(call, body);
        return;
      }
      // An HTTP/1.1 client hears nothing before it has sent everything; Node reads that for as long as it reads requests.
      if (request.httpVersionMajor > 1) abandonBody(request, response);
      finish(call, takesBody ? body : new RestError("BODY_NOT_ALLOWED", "this method takes no body"));
    });
  };
}
