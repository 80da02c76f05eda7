import { Code, ConnectError, createConnectRouter } from "@connectrpc/connect";
import {
  type ConnectNodeAdapterOptions,
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import { requestPathOf } from "../http/request-path.ts";
import type { CallHandler } from "./call-handler.ts";

type ConnectOptions = Omit<ConnectNodeAdapterOptions, "contextValues" | "fallback" | "requestPathPrefix">;

/**
 * Creates a handler that serves calls with connect-node. It differs from `connectNodeAdapter` in that the caller passes the context
 * values of a call. The path of a request must be that of a method.
 */
export function createConnectHandler(options: ConnectOptions): CallHandler {
  const router = createConnectRouter({ acceptCompression: [compressionGzip, compressionBrotli], ...options });
  options.routes(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return async (request, response, values) => {
    const handler = handlers.get(requestPathOf(request.url ?? ""));
    if (handler === undefined) throw new Error(`no method is served at ${request.url}`);
    try {
      const answer = await handler(universalRequestFromNodeRequest(request, response, undefined, values));
      await universalResponseToNodeResponse(answer, response);
    } catch (error) {
      if (ConnectError.from(error).code !== Code.Aborted) throw error;
    }
  };
}
