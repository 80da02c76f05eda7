import type { ContextValues } from "@connectrpc/connect";
import type { HttpRequest, HttpResponse } from "../http/http-messages.ts";

/**
 * Answers a request that may be a call.
 *
 * @param values the context values of the call: what is known of the request when it enters, such as its id, its address and its pace.
 */
export type CallHandler = (request: HttpRequest, response: HttpResponse, values: ContextValues) => void | Promise<void>;
