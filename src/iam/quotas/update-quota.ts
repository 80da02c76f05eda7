import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { type Quota, QuotaSchema } from "../../../gen/iam/v1alpha/quota_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { ServiceError, deleted } from "../../errors/service-error.ts";
import { singletonPath } from "../../paths/patterns.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { applyUpdate } from "../../standard-methods/write/apply-update.ts";
import { closeWrite, openWrite } from "../../standard-methods/write/open-write.ts";
import type { WriteCall } from "../../standard-methods/write/write-call.ts";
import { type NewLimit, requireMayRaise } from "./may-raise.ts";
import type { Level, LevelRow } from "../../quotas/levels.ts";
import { hasLimitsOf, limitsOf, toQuota } from "./message.ts";
import { findLevel } from "../../quotas/read-level.ts";
import { requireKinds } from "../../quotas/require-kinds.ts";
import { setLimits } from "./set-limits.ts";

interface QuotaUpdate {
  readonly patch: Quota;
  readonly mask: FieldMask | undefined;
}

/**
 * Updates the limits of a quota, and returns its level after that.
 *
 * @throws ServiceError ETAG_STALE, STATE_FORBIDS, FIELD_INVALID, or PERMISSION_DENIED when a limit is raised.
 */
export async function updateQuota(
  dependencies: ResourceDependencies,
  call: WriteCall,
  level: Level,
  path: readonly Reference[],
  { patch, mask }: QuotaUpdate,
): Promise<LevelRow> {
  const transaction = await lockLevel(call, level, path);
  const { db } = transaction;
  const before = await findLevel(db, level, path);
  if (before.isDeleted) throw deleted(level.kind, before.path);
  if (patch.etag !== "" && !hasLimitsOf(before, patch.etag)) throw stale(before);
  const current = toQuota(before, { definitions: [], limits: {} });
  const { resource: next } = applyUpdate(QuotaSchema, current, patch, mask, "quota");
  const changed = changedLimits(limitsOf(before), next.limits);
  if (changed.length > 0) {
    const named = changed.filter(({ after }) => after !== undefined).map(({ kind }) => kind);
    await requireKinds(db, named, "quota.limits");
    await requireMayRaise(dependencies.authorHolds, transaction, before, changed);
  }
  const after = await setLimits(transaction, before, changed);
  await closeWrite(call, transaction);
  return after;
}

/** Takes the lock under which the quota of a level changes: that of the org, or of the customer. */
function lockLevel(call: WriteCall, { kind }: Level, path: readonly Reference[]): Promise<OrgTransaction> {
  const top = required(path[0]);
  switch (kind) {
    case "customer":
      return openWrite(call, { logOfCustomer: top });
    case "org":
      // The state of an org does not block writes to the org itself.
      return openWrite(call, { org: top, state: "any" });
    case "project":
      return openWrite(call, { org: top });
  }
}

/** Returns the limits that differ. A double is the shortest decimal that is read as this double: 0.1 is exactly 0.1. */
function changedLimits(before: Readonly<Record<string, string>>, after: Quota["limits"]): NewLimit[] {
  const kinds = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  // A kind can be called like a property that every object has: "constructor".
  const [old, next] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return kinds
    .map((kind) => ({ kind, before: old.get(kind), after: next.get(kind) }))
    .filter((limit) => limit.after === undefined || limit.before === undefined || Number(limit.before) !== limit.after)
    .map(({ after: maximum, ...limit }) => ({ ...limit, after: maximum === undefined ? undefined : String(maximum) }));
}

function stale({ path }: LevelRow): ServiceError {
  const resource = singletonPath("Quota", path);
  const message = `the limits of ${resource} have changed since this etag was read, or it is the etag of another resource; read it again`;
  return new ServiceError("ETAG_STALE", message, { metadata: { resource } });
}
