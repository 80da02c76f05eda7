import { isDeepStrictEqual } from "node:util";
import type { QuotaRequestSchema } from "../../../gen/iam/v1alpha/quota_request_pb.ts";
import { type FieldViolation, deleted, invalidFields } from "../../errors/service-error.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import type { ResourceDependencies, ResourceRules } from "../../standard-methods/rules.ts";
import { findQuota, readQuota } from "./quota-of.ts";
import { requirePending } from "./require-pending.ts";
import type { QuotaRequestRow } from "./store.ts";
import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { mapEntry } from "../../errors/map-entry.ts";
import { singletonPath } from "../../paths/patterns.ts";
import { maxViolations } from "../../validation/validate-message.ts";
import type { LevelRow } from "../../quotas/levels.ts";
import { permissionToGetQuotas } from "../../quotas/permission.ts";
import { mayGetQuota } from "../../quotas/readable-levels.ts";
import { requireKinds } from "../../quotas/require-kinds.ts";
import { type WantedLimits, wantedLimits } from "./wanted-limits.ts";
import { isRaised } from "../quotas/may-raise.ts";

type Rules = ResourceRules<"quota_requests", QuotaRequestRow, typeof QuotaRequestSchema>;

export function createQuotaRequestRules({ authorHolds }: Pick<ResourceDependencies, "authorHolds">): Rules {
  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      prepare(transaction, _parent, requests, atItem) {
        const { author } = transaction;
        return mapItems(requests, atItem, async ({ quotaPath, limits }) => {
          const level = await findQuota(transaction, quotaPath);
          await requireRaises(authorHolds, transaction, level, limits);
          return {
            columns: {
              project_id: level.kind === "project" ? level.id : null,
              limits: JSON.stringify(limits),
              state: "PENDING",
              granted_limits: "{}",
              decision_message: "",
              actor_org_id: author.actorOrgId,
              actor_id: author.actorId,
            },
          };
        });
      },
    },

    async change(transaction, row, { limits }) {
      if (isDeepStrictEqual({ ...limits }, row.limits)) return {};
      requirePending(row, "its limits cannot be changed");
      const level = await readQuota(transaction.db, row);
      if (level.isDeleted) throw deleted(level.kind, level.path);
      await requireRaises(authorHolds, transaction, level, limits);
      return { limits: JSON.stringify(limits) };
    },

    // A request, and the limits that it raises, decide how much may be used, not who may use it.
    revokes: "nothing",
  };
}

const field = "quota_request.limits";

/**
 * Checks that a request asks for something: each of its limits is of a kind that exists, and above the present one. The error shows
 * the present one to an author who may get the quota.
 *
 * @throws ServiceError FIELD_INVALID that names each limit that is not.
 */
async function requireRaises(
  authorHolds: AuthorHolds,
  transaction: OrgTransaction,
  level: LevelRow,
  limits: WantedLimits,
): Promise<void> {
  await requireKinds(transaction.db, Object.keys(limits), field);
  const notRaised = wantedLimits(level, limits).filter((limit) => !isRaised(limit));
  if (notRaised.length === 0) return;
  const isShown = await mayGetQuota(await authorHolds.now(transaction), level);
  const violations = notRaised.map(({ kind, before }): FieldViolation => ({
    field: mapEntry(field, kind),
    description: isShown ? describeLimit(level, before) : describeHidden(level),
    rule: "quota_request.raise",
  }));
  throw invalidFields(violations.slice(0, maxViolations));
}

function describeLimit(level: LevelRow, before: string | undefined): string {
  const path = singletonPath("Quota", level.path);
  return before === undefined
    ? `must be left out: ${path} has no limit for it, so there is nothing to ask for`
    : `must be above ${before}, the present limit of ${path}: below it, there is nothing to ask for`;
}

function describeHidden(level: LevelRow): string {
  const path = singletonPath("Quota", level.path);
  return `must be above the present limit of ${path}, or be left out if that has none; to see it requires ${permissionToGetQuotas}`;
}
