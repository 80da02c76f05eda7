// Bounds how many streams of a member, of an org, and of all are open at once. Each keeps memory for as long as its caller likes.
import type { Interceptor } from "@connectrpc/connect";
import { impersonatorOf } from "../../access/tokens/impersonation.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { createCounts } from "../../scheduling/counts.ts";
import { retryAfterMs } from "../../scheduling/settings.ts";
import { callerAtGate } from "../request-gate.ts";
import { createSilentReaders, cutKey } from "./silent-readers.ts";

/** How many times as many streams as one caller the members of an org have open, those of the orgs of a customer, and all callers. */
const callersOf = { org: 5, customer: 10, server: 20 } as const;

/** The part of the places of a server from which on a customer gets another one only if it has no more than one caller may have. */
const shared = 0.75;

/**
 * Counts the streams of callers from when they begin until they end, and refuses those beyond a limit with RATE_LIMITED. Those of
 * callers without credentials are bounded by `limit-streams.ts`.
 *
 * @param streamsPerCaller how many streams a member has open at once.
 * @param silenceMs how long the client of a stream may read nothing.
 */
export function createOpenStreamsInterceptor(streamsPerCaller: number, silenceMs: number): Interceptor {
  const silentReaders = createSilentReaders(silenceMs);
  const streamsPerOrg = streamsPerCaller * callersOf.org;
  const streamsPerCustomer = streamsPerCaller * callersOf.customer;
  const streamsInAll = streamsPerCaller * callersOf.server;
  const [ofCallers, ofOrgs] = [createCounts(streamsPerCaller), createCounts(streamsPerOrg)];
  const ofCustomers = createCounts(streamsPerCustomer);
  let open = 0;
  return (next) => async (request) => {
    if (!request.stream) return next(request);
    const caller = callerAtGate(request.contextValues);
    // What an impersonator does counts as its own calls.
    const { memberId, orgId, customerId } = impersonatorOf(caller) ?? caller;
    if (ofCallers.isFull(memberId))
      throw tooMany("caller", `a member, with all its API keys, may have ${streamsPerCaller} streams open`);
    if (ofOrgs.isFull(orgId))
      throw tooMany("org", `the members of an org together may have ${streamsPerOrg} streams open`);
    if (ofCustomers.isFull(customerId))
      throw tooMany("customer", `the orgs of a customer together may have ${streamsPerCustomer} streams open`);
    if (open >= streamsInAll * shared && ofCustomers.of(customerId) >= streamsPerCaller)
      throw tooMany(
        "customer",
        `while a server has ${streamsInAll * shared} streams open, a customer may have ${streamsPerCaller} of them`,
      );
    if (open >= streamsInAll) throw tooMany("server", `a server has ${streamsInAll} streams open at most`);
    ofCallers.add(memberId);
    ofOrgs.add(orgId);
    ofCustomers.add(customerId);
    open++;
    const leave = once(() => {
      ofCallers.remove(memberId);
      ofOrgs.remove(orgId);
      ofCustomers.remove(customerId);
      open--;
    });
    // A stream whose client has left may never be asked for another message.
    request.signal.addEventListener("abort", leave, { once: true });
    try {
      const response = await next(request);
      if (response.stream) {
        const messages = untilEnd(response.message, leave);
        return { ...response, message: silentReaders.watch(messages, request.contextValues.get(cutKey)) };
      }
      leave();
      return response;
    } catch (error) {
      leave();
      throw error;
    }
  };
}

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) run();
    isDone = true;
  };
}

async function* untilEnd<Each>(messages: AsyncIterable<Each>, onEnd: () => void): AsyncIterable<Each> {
  try {
    yield* messages;
  } finally {
    onEnd();
  }
}

function tooMany(subject: "caller" | "org" | "customer" | "server", description: string): ServiceError {
  return new ServiceError(
    "RATE_LIMITED",
    `too many streams at once: ${description}; close one, or try again in ${retryAfterMs / 1_000} s`,
    {
      metadata: { limit: `${subject}-streams` },
      quotas: [{ subject, description }],
      retryAfterMs,
    },
  );
}
