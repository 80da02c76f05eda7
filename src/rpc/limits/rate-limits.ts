// Rate limits of members and orgs. docs/decisions/0079-how-callers-share-a-server.md describes how calls are counted, and how accurately.
import { ServiceError } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import { formatPolicies, formatLimitStates } from "./rate-limit-fields.ts";
import { type SlidingCounter, type SlidingState, createSlidingCounter } from "../../scheduling/sliding-counter.ts";

/** Requests per minute; 0 for no limit. */
export interface RateLimits {
  readonly rateReadsPerCaller: number;
  readonly rateWritesPerCaller: number;
  readonly rateReadsPerOrg: number;
  readonly rateWritesPerOrg: number;
}

/** Counts a call against every limit that applies to it. */
export type CountCall = (caller: LimitedCaller, reads: boolean) => RateVerdict;

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
  readonly counter: SlidingCounter;
}

type Subject = "caller" | "org";

type LimitedCaller = Pick<Caller, "memberId" | "orgId">;

const unlimited: RateVerdict = { refusal: undefined, fields: [] };

/**
 * @param windowMs the window, one minute except in tests.
 * @param clock returns milliseconds that never go back.
 * @returns undefined if there are no limits.
 */
export function createCountCall(
  limits: RateLimits,
  windowMs: number,
  clock = () => performance.now(),
): CountCall | undefined {
  const { rateReadsPerCaller, rateReadsPerOrg, rateWritesPerCaller, rateWritesPerOrg } = limits;
  const window = { windowMs, clock };
  const reads = createLimits("reads", { caller: rateReadsPerCaller, org: rateReadsPerOrg }, window);
  const writes = createLimits("writes", { caller: rateWritesPerCaller, org: rateWritesPerOrg }, window);
  if (reads.length === 0 && writes.length === 0) return undefined;
  const judgeRead = createJudge(reads);
  const judgeWrite = createJudge(writes);
  return (caller, isRead) => (isRead ? judgeRead(caller) : judgeWrite(caller));
}

function createLimits(
  what: "reads" | "writes",
  quotas: Record<Subject, number>,
  { windowMs, clock }: { readonly windowMs: number; readonly clock: () => number },
): Limit[] {
  const whose = { caller: "a member, with all its API keys,", org: "the members of an org together" };
  return (["caller", "org"] as const)
    .filter((subject) => quotas[subject] > 0)
    .map((subject) => ({
      name: `${subject}-${what}`,
      subject,
      quota: quotas[subject],
      windowMs,
      description: `${whose[subject]} may make ${quotas[subject]} ${what} a minute`,
      counter: createSlidingCounter(quotas[subject], windowMs, clock),
    }));
}

function createJudge(limits: readonly Limit[]): (caller: LimitedCaller) => RateVerdict {
  if (limits.length === 0) return () => unlimited;
  const policies = ["ratelimit-policy", formatPolicies(limits)] as const;
  const fieldsOf = (states: readonly SlidingState[], used: 0 | 1): RateVerdict["fields"] => {
    const named = limits.map(({ name }, index) => {
      const { left, resetMs } = states[index] as SlidingState;
      return { name, left: left - used, resetMs };
    });
    return [policies, ["ratelimit", formatLimitStates(named)]];
  };
  return (caller) => {
    const states = limits.map(({ counter, subject }) => counter.look(keyOf(subject, caller)));
    const exceeded = states.findIndex(({ left }) => left === 0);
    if (exceeded !== -1) {
      const { retryMs } = states[exceeded] as SlidingState;
      return { refusal: refuse(limits[exceeded] as Limit, retryMs), fields: fieldsOf(states, 0) };
    }
    for (const { counter, subject } of limits) counter.add(keyOf(subject, caller));
    return { refusal: undefined, fields: fieldsOf(states, 1) };
  };
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
