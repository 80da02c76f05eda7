// Compares the limits of an org with those of a file. What changes in a quota is one change.
import { create } from "@bufbuild/protobuf";
import { QuotaSchema } from "../../gen/iam/v1alpha/quota_pb.ts";
import { type NewLimit, isRaised } from "../iam/quotas/may-raise.ts";
import { type Steps, createStepCounter } from "../scheduling/steps.ts";
import { limitOf, quotaPathOf } from "./limits.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { PlacedResource } from "./read-file.ts";
import type { StateResource } from "./state-resource.ts";

/** What a plan changes in a quota. */
export interface QuotaChange extends PlannedChange {
  readonly type: "quota";
  /** The path below the org of the project whose quota it is; empty for the org. */
  readonly level: string;
  /** The kinds of the limits that change, in order. */
  readonly kinds: readonly string[];
  /** The limits that would be raised or removed. */
  readonly raised: readonly NewLimit[];
  /** Where the file has the first of them; empty if it has none. */
  readonly raisedAt: string;
}

interface QuotaSides {
  /** Where the file has limits, by kind. */
  readonly places: Map<string, string>;
  readonly before: Map<string, number>;
  readonly after: Map<string, number>;
}

/**
 * Plans the changes of quotas.
 *
 * @param present what there is, and `wanted` what the file has.
 * @param removed the limits that are removed while their org or project stays.
 */
export function* planQuotas(
  present: readonly StateResource[],
  wanted: readonly PlacedResource[],
  removed: readonly StateResource[],
): Steps<readonly QuotaChange[]> {
  const isStepOver = createStepCounter();
  const quotas = new Map<string, QuotaSides>();
  const quotaOf = (level: string): QuotaSides => {
    const empty = {
      places: new Map<string, string>(),
      before: new Map<string, number>(),
      after: new Map<string, number>(),
    };
    const quota: QuotaSides = quotas.get(level) ?? empty;
    quotas.set(level, quota);
    return quota;
  };
  for (const entry of present) {
    if (isStepOver()) yield;
    const found = limitOf(entry);
    if (found === undefined) continue;
    const { before, after } = quotaOf(found.level);
    before.set(found.kind, found.limit);
    after.set(found.kind, found.limit);
  }
  for (const entry of wanted) {
    if (isStepOver()) yield;
    const found = limitOf(entry);
    if (found === undefined) continue;
    const quota = quotaOf(found.level);
    quota.places.set(found.kind, entry.place);
    quota.after.set(found.kind, found.limit);
  }
  for (const entry of removed) {
    if (isStepOver()) yield;
    const found = limitOf(entry);
    if (found !== undefined) quotaOf(found.level).after.delete(found.kind);
  }
  const changes: QuotaChange[] = [];
  for (const [level, sides] of quotas) {
    const change = changeOf(level, sides);
    if (change !== undefined) changes.push(change);
    if (isStepOver()) yield;
  }
  return changes;
}

function changeOf(level: string, { places, before, after }: QuotaSides): QuotaChange | undefined {
  const kinds = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  const changed = kinds
    .map((kind) => ({ kind, before: textOf(before.get(kind)), after: textOf(after.get(kind)) }))
    .filter((limit) => limit.before !== limit.after);
  if (changed.length === 0) return undefined;
  // All limits that there are then: the revision of the plan has those that do not change, and a mask names few fields.
  const message = create(QuotaSchema, { limits: Object.fromEntries(after) });
  const placeOf = (limits: readonly NewLimit[]): string =>
    limits.map(({ kind }) => places.get(kind)).find((place) => place !== undefined) ?? "";
  const raised = changed.filter(isRaised);
  const fieldOf = (kind: string): string => `limits.${kind}`;
  return {
    action: "update",
    type: "quota",
    path: quotaPathOf(level),
    level,
    fields: changed.map(({ kind }) => fieldOf(kind)),
    values: changed.map((limit) => ({
      field: fieldOf(limit.kind),
      before: limit.before ?? "",
      after: limit.after ?? "",
    })),
    kinds: changed.map(({ kind }) => kind),
    raised,
    raisedAt: placeOf(raised),
    message,
    sent: message,
    place: placeOf(changed),
  };
}

const textOf = (limit: number | undefined): string | undefined => (limit === undefined ? undefined : String(limit));
