import { isDeepStrictEqual } from "node:util";
import type { QuotaRequestSchema } from "../../../gen/iam/v1alpha/quota_request_pb.ts";
import { deleted } from "../../errors/service-error.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import type { ResourceDependencies, ResourceRules } from "../../standard-methods/rules.ts";
import { findQuota, readQuota } from "./quota-of.ts";
import { requirePending } from "./require-pending.ts";
import { requireRaises } from "./require-raises.ts";
import type { QuotaRequestRow } from "./store.ts";

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
