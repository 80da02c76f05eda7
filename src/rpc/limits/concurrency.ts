// Bounds how many calls of a member, and of an org, run at once. Each keeps memory, whatever it waits for.
import type { Interceptor } from "@connectrpc/connect";
import { impersonatorOf } from "../../access/tokens/impersonation.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { createCounts } from "../../scheduling/counts.ts";
import { retryAfterMs } from "../../scheduling/settings.ts";
import { callerAtGate } from "../request-gate.ts";
import type { MethodTable } from "../method-table.ts";

/** Calls at once; 0 for no limit. */
export interface ConcurrencyLimits {
  readonly callsPerCaller: number;
  readonly callsPerOrg: number;
}

/**
 * Counts calls from when their bodies have been read until they end, even if their callers have left, and refuses those beyond a limit
 * with RATE_LIMITED.
 */
export function createConcurrencyInterceptor(table: MethodTable, limits: ConcurrencyLimits): Interceptor {
  const { callsPerCaller, callsPerOrg } = limits;
  const ofCallers = createCounts(callsPerCaller || Infinity);
  const ofOrgs = createCounts(callsPerOrg || Infinity);
  return (next) => async (request) => {
    if (table.get(request.method)?.unauthenticated !== false) return next(request);
    const caller = callerAtGate(request.contextValues);
    // What an impersonator does counts as its own calls.
    const { memberId, orgId } = impersonatorOf(caller) ?? caller;
    if (ofCallers.isFull(memberId)) throw tooMany("caller", "a member, with all its API keys,", callsPerCaller);
    if (ofOrgs.isFull(orgId)) throw tooMany("org", "the members of an org together", callsPerOrg);
    ofCallers.add(memberId);
    ofOrgs.add(orgId);
    try {
      return await next(request);
    } finally {
      ofCallers.remove(memberId);
      ofOrgs.remove(orgId);
    }
  };
}

function tooMany(subject: "caller" | "org", whose: string, limit: number): ServiceError {
  const description = `${whose} may make ${limit} calls at once`;
  return new ServiceError(
    "RATE_LIMITED",
    `too many calls at once: ${description}; try again in ${retryAfterMs / 1_000} s`,
    {
      metadata: { limit: `${subject}-calls`, calls_at_once: String(limit) },
      quotas: [{ subject, description }],
      retryAfterMs,
    },
  );
}
