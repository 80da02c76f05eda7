import { Code, ConnectError, createContextValues, createHandlerContext } from "@connectrpc/connect";
import pino from "pino";
import { expect, test } from "vitest";
import { MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { ServiceError } from "../../src/errors/service-error.ts";
import type { Caller } from "../../src/identity/caller.ts";
import { createExplainError } from "../../src/rpc/explain-error.ts";
import type { CountCall } from "../../src/rpc/limits/rate-limits.ts";
import { createMethodTable } from "../../src/rpc/method-table.ts";
import { createRequestGate } from "../../src/rpc/request-gate.ts";
import { services, standardServices } from "../../src/rpc/services.ts";
import { clientAddressKey } from "../../src/rpc/call-origin.ts";
import type { Authenticate } from "../../src/identity/authenticate.ts";

/** Returns the function that sends a call through a gate, and the refusals that have waited, in their order. */
function openGate(authenticate: Authenticate, countCall?: CountCall) {
  const paced: string[] = [];
  const gate = createRequestGate(
    createMethodTable([...services, ...standardServices]),
    authenticate,
    countCall,
    createExplainError(pino({ enabled: false })),
    (key) => {
      paced.push(key);
      return Promise.resolve();
    },
  );
  const call = async (address: string): Promise<Code | undefined> => {
    const contextValues = createContextValues().set(clientAddressKey, address);
    const context = createHandlerContext({
      service: MembersService,
      method: MembersService.method.getMember,
      protocolName: "connect",
      requestMethod: "POST",
      url: "http://localhost/",
      contextValues,
    });
    const error: unknown = await gate(context).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return error === undefined ? undefined : ConnectError.from(error).code;
  };
  return { call, paced };
}

const fails = (reason: ServiceError["reason"]): Authenticate => {
  const error = new ServiceError(reason, "no");
  return () => Promise.reject(error);
};

test("refusals of credentials are paced by the network of the client", async () => {
  const { call, paced } = openGate(fails("TOKEN_INVALID"));
  expect(await call("192.0.2.7")).toBe(Code.Unauthenticated);
  expect(await call("2001:db8::1")).toBe(Code.Unauthenticated);
  expect(await call("2001:db8::2")).toBe(Code.Unauthenticated);
  expect(paced).toEqual(["address 192.0.2.7", "address 2001:db8::/64", "address 2001:db8::/64"]);
});

test("calls beyond their rate are paced by their org", async () => {
  const caller = { orgId: "the org" } as Caller;
  const refusal = new ServiceError("RATE_LIMITED", "too many");
  const { call, paced } = openGate(
    () => Promise.resolve(caller),
    () => ({ refusal, fields: [] }),
  );
  expect(await call("192.0.2.7")).toBe(Code.ResourceExhausted);
  expect(paced).toEqual(["the org"]);
});

test("an answer that the service is unavailable does not wait", async () => {
  const { call, paced } = openGate(fails("SERVICE_UNAVAILABLE"));
  expect(await call("192.0.2.7")).toBe(Code.Unavailable);
  expect(paced).toEqual([]);
});
