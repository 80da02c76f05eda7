import { Code, ConnectError, createContextValues, createHandlerContext } from "@connectrpc/connect";
import pino from "pino";
import { expect, test } from "vitest";
import { MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { ServiceError } from "../../src/errors/service-error.ts";
import { createExplainError } from "../../src/rpc/explain-error.ts";
import { createMethodTable } from "../../src/rpc/method-table.ts";
import { createRequestGate } from "../../src/rpc/request-gate.ts";
import { services, standardServices } from "../../src/rpc/services.ts";
import { createTimeSlices } from "../../src/scheduling/time-slices.ts";
import { paceKey, unpaced } from "../../src/http/request-pace.ts";
import type { Caller } from "../../src/identity/caller.ts";

function createCall(contextValues = createContextValues()) {
  return createHandlerContext({
    service: MembersService,
    method: MembersService.method.getMember,
    protocolName: "connect",
    requestMethod: "POST",
    url: "http://localhost/",
    contextValues,
  });
}

test("of many calls at once that are refused, those for which no turn is left may be tried again", async () => {
  const authenticate = () => Promise.reject(new ServiceError("TOKEN_MISSING", "the request has no credentials"));
  const explain = createExplainError(pino({ enabled: false }));
  const slices = createTimeSlices({ shortMs: 0, maxWaiting: 1 });
  const gate = createRequestGate(
    createMethodTable([...services, ...standardServices]),
    () => authenticate,
    undefined,
    explain,
    slices,
    () => undefined,
  );
  const call = async (): Promise<Code> => {
    const context = createCall();
    const error: unknown = await gate(context).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectError);
    return (error as ConnectError).code;
  };
  const codes = await Promise.all([call(), call(), call()]);
  expect(codes).toEqual([Code.Unauthenticated, Code.Unauthenticated, Code.ResourceExhausted]);
});

test("the caller of a call is known if it passes the gate, and not if it exceeds its rate", async () => {
  const marked: string[] = [];
  const call = async (name: string, refusal: ServiceError | undefined): Promise<unknown> => {
    const gate = createRequestGate(
      createMethodTable([...services, ...standardServices]),
      () => () => Promise.resolve({ orgId: "org" } as Caller),
      () => ({ refusal, fields: [] }),
      createExplainError(pino({ enabled: false })),
      createTimeSlices(),
      () => undefined,
    );
    const pace = { ...unpaced, markKnown: () => void marked.push(name) };
    const context = createCall(createContextValues().set(paceKey, pace));
    return gate(context).catch((thrown: unknown) => thrown);
  };
  await call("passes", undefined);
  await call("exceeds", new ServiceError("RATE_LIMITED", "too many"));
  expect(marked).toEqual(["passes"]);
});
