// Rate limits of members and orgs. docs/decisions/0012-rate-limits.md describes how calls are counted, and how accurately.
import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import { ServiceError } from "../errors/service-error.ts";
import type { Caller } from "../identity/caller.ts";
import { type LimitState, formatPolicies, formatLimitStates } from "./rate-limit-fields.ts";

/** Requests per minute; 0 for no limit. */
export interface RateLimits {
  readonly rateReadsPerCaller: number;
  readonly rateWritesPerCaller: number;
  readonly rateReadsPerOrg: number;
  readonly rateWritesPerOrg: number;
}

/** Counts a call against every limit that applies to it. */
export type CountCall = (caller: LimitedCaller, reads: boolean) => Promise<RateVerdict>;

interface RateVerdict {
  /** RATE_LIMITED if a limit is exceeded. Such a call does not use up any quota. */
  readonly refusal: ServiceError | undefined;
  /** Header fields for the response, successful or not; empty if no limit applies. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

interface Limit {
  /** `caller-reads` */
  readonly name: string;
  readonly subject: Subject;
  readonly quota: number;
  readonly windowMs: number;
  readonly description: string;
  readonly counter: RateLimiterMemory;
}

type Subject = "caller" | "org";

type LimitedCaller = Pick<Caller, "memberId" | "orgId">;

const unlimited: RateVerdict = { refusal: undefined, fields: [] };

/**
 * Creates the counter of calls.
 *
 * @param windowMs the window, one minute except in tests.
 * @returns undefined if there are no limits.
 */
export function createCountCall(limits: RateLimits, windowMs: number): CountCall | undefined {
  const reads = createLimits("reads", { caller: limits.rateReadsPerCaller, org: limits.rateReadsPerOrg }, windowMs);
  const writes = createLimits("writes", { caller: limits.rateWritesPerCaller, org: limits.rateWritesPerOrg }, windowMs);
  if (reads.length === 0 && writes.length === 0) return undefined;
  const judgeRead = createJudge(reads);
  const judgeWrite = createJudge(writes);
  return (caller, isRead) => (isRead ? judgeRead(caller) : judgeWrite(caller));
}

function createLimits(what: "reads" | "writes", quotas: Record<Subject, number>, windowMs: number): Limit[] {
  const whose = { caller: "a member, with all its API keys,", org: "the members of an org together" };
  return (["caller", "org"] as const)
    .filter((subject) => quotas[subject] > 0)
    .map((subject) => ({
      name: `${subject}-${what}`,
      subject,
      quota: quotas[subject],
      windowMs,
      description: `${whose[subject]} may make ${quotas[subject]} ${what} a minute`,
      counter: new RateLimiterMemory({ points: quotas[subject], duration: windowMs / 1_000, keyPrefix: "" }),
    }));
}

function createJudge(limits: readonly Limit[]): (caller: LimitedCaller) => Promise<RateVerdict> {
  if (limits.length === 0) return () => Promise.resolve(unlimited);
  const policies = ["ratelimit-policy", formatPolicies(limits)] as const;
  return async (caller) => {
    const limitStates: LimitState[] = [];
    for (const limit of limits) {
      const { left, resetMs, isOver } = await take(limit, caller);
      if (isOver) {
        for (const { counter, subject } of limits.slice(0, limitStates.length)) {
          await counter.reward(keyOf(subject, caller));
        }
        const now = await Promise.all(limits.map((each) => look(each, caller)));
        return { refusal: refuse(limit, resetMs), fields: [policies, ["ratelimit", formatLimitStates(now)]] };
      }
      limitStates.push({ name: limit.name, left, resetMs });
    }
    return { refusal: undefined, fields: [policies, ["ratelimit", formatLimitStates(limitStates)]] };
  };
}

/** Uses one request of the quota. The library's `consume` would throw when a limit is exceeded. */
async function take(limit: Limit, caller: LimitedCaller): Promise<LimitState & { isOver: boolean }> {
  const count = await limit.counter.penalty(keyOf(limit.subject, caller));
  return { ...limitStateOf(limit, count), isOver: count.consumedPoints > limit.quota };
}

async function look(limit: Limit, caller: LimitedCaller): Promise<LimitState> {
  return limitStateOf(limit, await limit.counter.get(keyOf(limit.subject, caller)));
}

function limitStateOf({ name, quota, windowMs }: Limit, count: RateLimiterRes | null): LimitState {
  if (count === null) return { name, left: quota, resetMs: windowMs };
  // A timer ends windows too, so setting the clock back does not extend them.
  return { name, left: count.remainingPoints, resetMs: Math.min(count.msBeforeNext, windowMs) };
}

function keyOf(subject: Subject, { memberId, orgId }: LimitedCaller): string {
  return subject === "caller" ? memberId : orgId;
}

function refuse({ name, subject, quota, description }: Limit, retryAfterMs: number): ServiceError {
  const seconds = Math.ceil(retryAfterMs / 1_000);
  return new ServiceError("RATE_LIMITED", `too many requests: ${description}; try again in ${seconds} s`, {
    metadata: { limit: name, requests_per_minute: String(quota) },
    quotas: [{ subject, description }],
    retryAfterMs,
  });
}
