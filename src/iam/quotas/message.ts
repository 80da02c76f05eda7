import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { type Quota, QuotaSchema } from "../../../gen/iam/v1alpha/quota_pb.ts";
import { resourceTypes } from "../../../gen/resource-types.ts";
import { singletonPath } from "../../paths/patterns.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import type { Limits } from "../../standard-methods/definition/limits.ts";
import type { LevelKind, LevelRow } from "../../quotas/levels.ts";

/** What the quotas show of the resources of this API. */
export interface ResourceCounting {
  readonly definitions: readonly ResourceDefinition[];
  readonly limits: Limits;
}

export function toQuota(row: LevelRow, { definitions, limits }: ResourceCounting): Quota {
  const kinds = Object.keys(row.quotas).toSorted();
  const amountsOf = (amount: "used" | "reserved") =>
    Object.fromEntries(
      kinds.map((kind) => [kind, Number(row.quotas[kind]?.[amount])] as const).filter(([, value]) => value > 0),
    );
  const counted = definitions.filter((definition) => levelOfCount(definition) === row.kind);
  const quota = create(QuotaSchema, {
    path: singletonPath("Quota", row.path),
    limits: Object.fromEntries(Object.entries(limitsOf(row)).map(([kind, limit]) => [kind, Number(limit)])),
    usage: amountsOf("used"),
    reserved: amountsOf("reserved"),
    resourceLimits: Object.fromEntries(
      counted.flatMap(({ type }) => (limits[type] === undefined ? [] : [[resourceTypes[type].plural, limits[type]]])),
    ),
    resourceUsage: Object.fromEntries(counted.map(({ type }) => [resourceTypes[type].plural, row.counts[type] ?? 0])),
  });
  return Object.assign(quota, { etag: `${limitsTag(row)}-${hash(quota)}` });
}

/** Returns the limits by kind, exact decimals, in the order of the kinds. */
export function limitsOf({ quotas }: LevelRow): Readonly<Record<string, string>> {
  const limited = Object.entries(quotas).flatMap(([kind, { maximum }]) =>
    maximum === null ? [] : [[kind, maximum] as const],
  );
  return Object.fromEntries(limited.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * Whether the limits are still those of the quota with this etag. An etag has two parts: the first one stands for the limits,
 * so that an update can be made while usage changes; the second one for everything, so that a cached response is not used when
 * anything has changed.
 */
export function hasLimitsOf(row: LevelRow, etag: string): boolean {
  return etag.split("-")[0] === limitsTag(row);
}

function limitsTag(row: LevelRow): string {
  return hash([row.id, limitsOf(row)]);
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

/** Returns the level whose resources of this type are counted together; undefined if it is another parent. */
function levelOfCount({ type, storage }: ResourceDefinition): LevelKind | undefined {
  // An org is in no org, and has its customer as the parent in which it is counted.
  if (type === "Org") return "customer";
  return storage.countedBy === "org_id" ? "org" : undefined;
}
