import type { TraceParent } from "./trace-parent.ts";

/** The samplers of OpenTelemetry's environment variables that need no other service. */
export const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

export type SamplerName = (typeof samplers)[number];

/** Whether the spans of a call are recorded. @param parent of a caller whose word counts; undefined if there is none. */
export type Sampler = (parent: TraceParent | undefined) => boolean;

/** @param share of the calls that a ratio samples, from 0 to 1. */
export function createSampler(name: SamplerName, share: number): Sampler {
  const [, begins = ""] = /^(?:parentbased_)?(.*)$/.exec(name) ?? [];
  const part = begins === "always_on" ? 1 : begins === "always_off" ? 0 : share;
  // By the id of a trace, all services with the same share decide alike.
  const isChosen: Sampler = (parent) => (parent === undefined ? Math.random() : positionOf(parent)) < part;
  return name.startsWith("parentbased_") ? (parent) => parent?.isSampled ?? isChosen(parent) : isChosen;
}

/** Returns a number from 0 to 1 that an id of a trace always has. */
function positionOf({ traceId }: TraceParent): number {
  return Number.parseInt(traceId.slice(-8), 16) / 2 ** 32;
}
