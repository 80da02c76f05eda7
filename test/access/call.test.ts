// Tests what a handler learns about its call.
import { createContextValues } from "@connectrpc/connect";
import { expect, test } from "vitest";
import {
  type AuthorisedCall,
  authorOf,
  callerOf,
  itemParentsOf,
  orgOf,
  patternOf,
  setCall,
  targetOf,
  visibleOf,
  visibleTypesOf,
} from "../../src/access/evaluation/call.ts";
import { onPlatform } from "../../src/access/evaluation/resolved-target.ts";
import { unlimited } from "../../src/access/evaluation/visibility.ts";
import type { Caller } from "../../src/identity/caller.ts";
import { type PathPattern, patterns } from "../../src/paths/patterns.ts";
import { createCallSlices } from "../../src/scheduling/call-slices.ts";
import type { Reference } from "../../src/paths/parse-path.ts";

const caller: Caller = {
  memberId: "member",
  orgId: "org",
  customerId: "customer",
  credentialId: "key",
  credentialExpireTime: new Date(1),
  grantsUntil: "7",
  clientId: "client",
  scopes: undefined,
  projectId: undefined,
  allowedAddresses: ["10.0.0.0/8"],
  impersonator: undefined,
  token: undefined,
  orgHead: { revision: "7", readAt: 0 },
  recentHeads: [],
  time: 0,
};
const origin = {
  credentialId: "key",
  requestId: null,
  remoteAddress: null,
  userAgent: null,
  reason: null,
  onBehalfOf: null,
};
const confirm = () => Promise.resolve(undefined);

const contextOf = (pattern: PathPattern, references: readonly Reference[], more: Partial<AuthorisedCall> = {}) => {
  const values = createContextValues();
  const target = { ...onPlatform, pattern, references };
  const slices = createCallSlices(() => undefined);
  const call = { caller, method: "S/M", confirm, readOrigin: () => origin, slices, target, visible: unlimited };
  setCall(values, { ...call, ...more });
  return { values };
};

const acme = { by: "name", value: "acme" } as const;
const any = { by: "any" } as const;

test("a handler gets the references of the path that was authorised, and no others", () => {
  const context = contextOf(patterns.Member, [acme, any]);
  expect(targetOf(context, patterns.Member)).toEqual([acme, any]);
  expect(patternOf(context)).toBe(patterns.Member);
  expect(() => targetOf(context, patterns.Org)).toThrow("the call's target is not a orgs path");
  expect(() => targetOf(context, patterns.Group)).toThrow("the call's target is not a orgs/groups path");
});

test("a call is in the org of its path, if that names one", () => {
  expect(orgOf(contextOf(patterns.Member, [acme, any]))).toBe(acme);
  expect(orgOf(contextOf(patterns.Member, [any, acme]))).toBeUndefined();
  expect(orgOf(contextOf(patterns.Customer, [acme]))).toBeUndefined();
  expect(orgOf(contextOf([], []))).toBeUndefined();
});

test("a handler without an authorised call fails", () => {
  const context = { values: createContextValues() };
  for (const read of [patternOf, orgOf, visibleOf, visibleTypesOf, itemParentsOf, callerOf, authorOf])
    expect(() => read(context)).toThrow("the handler runs without the authorising interceptor");
});

test("the limits of a call are those of its decision", () => {
  const visible = { ...unlimited, orgs: { orgIds: ["org"], customerIds: [] } };
  const limits = { visible, visibleTypes: ["type"], parents: [undefined] };
  const context = contextOf([], [], limits);
  expect([visibleOf(context), visibleTypesOf(context), itemParentsOf(context)]).toEqual(Object.values(limits));
  const without = contextOf([], []);
  expect([visibleOf(without), visibleTypesOf(without), itemParentsOf(without)]).toEqual([
    unlimited,
    undefined,
    undefined,
  ]);
});

test("the author of a change is the caller, with what narrows its credential", () => {
  const author = {
    actorId: "member",
    actorOrgId: "org",
    credentialExpireTime: new Date(1),
    grantsUntil: "7",
    allowedAddresses: ["10.0.0.0/8"],
    isOfClient: false,
    method: "S/M",
    origin,
    confirm,
  };
  const authorWith = (more: Partial<Caller>) => authorOf(contextOf([], [], { caller: { ...caller, ...more } }));
  expect(callerOf(contextOf([], []))).toBe(caller);
  expect(authorWith({})).toEqual({ ...author, narrowing: undefined });
  const none = { scopes: undefined, projectId: undefined, impersonatorId: undefined };
  expect(authorWith({ scopes: [] }).narrowing).toEqual({ ...none, scopes: [] });
  expect(authorWith({ projectId: "web" }).narrowing).toEqual({ ...none, projectId: "web" });
  const impersonator = { memberId: "boss" } as Caller["impersonator"];
  expect(authorWith({ impersonator }).narrowing).toEqual({ ...none, impersonatorId: "boss" });
  const token = { clientOrgId: "org" } as Caller["token"];
  expect(authorWith({ token }).isOfClient).toBe(true);
});
