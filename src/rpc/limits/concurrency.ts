// Bounds how many calls of a member, and of an org, run at once. Each keeps memory, whatever it waits for.
import type { Interceptor } from "@connectrpc/connect";
import { impersonatorOf } from "../../access/tokens/impersonation.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { callerAtGate } from "../request-gate.ts";
import type { MethodTable } from "../method-table.ts";

/** Calls at once; 0 for no limit. */
export interface ConcurrencyLimits {
  readonly callsPerCaller: number;
  readonly callsPerOrg: number;
}

const retryAfterMs = 1_000;

/**
 * Counts calls, from when their bodies are read until they end, also those whose callers have left. Refuses further ones with
 * RATE_LIMITED.
 */
export function createConcurrencyInterceptor(table: MethodTable, limits: ConcurrencyLimits): Interceptor {
  const ofCallers = createCount("caller", "a member, with all its API keys,", limits.callsPerCaller);
  const ofOrgs = createCount("org", "the members of an org together", limits.callsPerOrg);
  return (next) => async (request) => {
    if (table.get(request.method)?.unauthenticated !== false) return next(request);
    const caller = callerAtGate(request.contextValues);
    // What an impersonator does counts as its own calls.
    const { memberId, orgId } = impersonatorOf(caller) ?? caller;
    ofCallers.require(memberId);
    ofOrgs.require(orgId);
    ofCallers.change(memberId, 1);
    ofOrgs.change(orgId, 1);
    try {
      return await next(request);
    } finally {
      ofCallers.change(memberId, -1);
      ofOrgs.change(orgId, -1);
    }
  };
}

function createCount(subject: "caller" | "org", whose: string, limit: number) {
  const counts = new Map<string, number>();
  return {
    /** @throws ServiceError RATE_LIMITED when as many calls as may run at once do. */
    require(key: string): void {
      if (limit > 0 && (counts.get(key) ?? 0) >= limit) throw tooMany(subject, whose, limit);
    },
    change(key: string, difference: 1 | -1): void {
      const count = (counts.get(key) ?? 0) + difference;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    },
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
