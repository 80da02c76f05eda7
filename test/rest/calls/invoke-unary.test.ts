// Compares the invocation of unary methods with Connect's own.
import { create } from "@bufbuild/protobuf";
import {
  type HandlerContext,
  type Interceptor,
  createContextKey,
  createContextValues,
  createHandlerContext,
  createMethodImplSpec,
} from "@connectrpc/connect";
import { invokeUnaryImplementation } from "@connectrpc/connect/protocol";
import { expect, test } from "vitest";
import { MembersService } from "../../../gen/iam/v1alpha/member_pb.ts";
import { invokeUnary } from "../../../src/rest/calls/invoke-unary.ts";

const method = MembersService.method.getMember;
const wordKey = createContextKey("none");

const cases: Readonly<Record<string, readonly Interceptor[]>> = {
  "no interceptor": [],
  "one that passes on": [(next) => (request) => next(request)],
  "two, of which the first is the outer one": [
    (next) => async (request) => {
      request.header.set("x-path", "outer");
      return next(request);
    },
    (next) => async (request) => {
      request.header.set("x-path", `${request.header.get("x-path")} inner`);
      return next(request);
    },
  ],
  "one that replaces the message, the headers and the values of the request": [
    (next) => (request) =>
      next({
        ...request,
        message: create(method.input, { path: "/orgs/acme/members/other" }) as never,
        header: new Headers({ "x-path": "replaced" }),
        contextValues: createContextValues().set(wordKey, "replaced"),
      }),
  ],
  "one that replaces the signal": [(next) => (request) => next({ ...request, signal: AbortSignal.abort("over") })],
  "one that replaces the headers and trailers of the response": [
    (next) => async (request) => {
      const response = await next(request);
      return { ...response, header: new Headers({ "x-new": "yes" }), trailer: new Headers({ "x-end": "yes" }) };
    },
  ],
  "one that replaces the response": [
    (next) => async (request) =>
      ({ ...(await next(request)), message: create(method.output, { name: "other" }) }) as never,
  ],
  "one that fails": [() => () => Promise.reject(new Error("refused"))],
};

test.each(Object.entries(cases))("does what Connect's invocation does, with %s", async (_name, interceptors) => {
  const [ours, connects] = await Promise.all(
    [invokeUnary, invokeUnaryImplementation as unknown as typeof invokeUnary].map((invoke) =>
      outcomeOf(invoke, interceptors),
    ),
  );
  expect(ours).toEqual(connects);
});

/** Invokes a method that answers with what it sees. Returns the answer, or the error, and the headers of the response. */
async function outcomeOf(invoke: typeof invokeUnary, interceptors: readonly Interceptor[]) {
  const context = contextOf();
  const spec = createMethodImplSpec(method, ({ path }, { requestHeader, responseHeader, signal, values }) => {
    responseHeader.set("x-old", "yes");
    const seen = [requestHeader.get("x-path"), values.get(wordKey), String(signal.aborted)];
    // No message: Connect makes one of it.
    return { path, description: seen.join(", ") };
  });
  const result = await invoke(spec as never, context, create(method.input, { path: "/orgs/acme/members/ada" }), [
    ...interceptors,
  ]).catch((error: unknown) => error);
  return { result, header: [...context.responseHeader], trailer: [...context.responseTrailer] };
}

function contextOf(): HandlerContext {
  return createHandlerContext({
    service: MembersService,
    method,
    protocolName: "rest",
    requestMethod: "GET",
    url: "http://localhost/orgs/acme/members/ada",
    requestHeader: { "x-path": "given" },
    contextValues: createContextValues().set(wordKey, "given"),
  });
}
