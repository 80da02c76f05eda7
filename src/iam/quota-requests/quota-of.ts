// The quota that a request is about: that of its org, or of a project in it.
import type { Transaction } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Schema } from "../../database/schema.ts";
import { required } from "../../errors/required.ts";
import { deleted } from "../../errors/service-error.ts";
import { isSamePattern, patterns } from "../../paths/patterns.ts";
import { parseSingletonPath } from "../../paths/parse-path.ts";
import { requireSameOrg } from "../../standard-methods/org-reference.ts";
import { type LevelRow, levels } from "../../quotas/levels.ts";
import { findLevel, findLevelById } from "../../quotas/read-level.ts";
import type { QuotaRequestRow } from "./store.ts";

const field = "quota_request.quota_path";

/**
 * Finds the quota that a new request names, in the org of the transaction.
 *
 * @throws ServiceError PATH_INVALID, FIELD_INVALID, RESOURCE_NOT_FOUND, or STATE_FORBIDS when its project is deleted.
 */
export async function findQuota(transaction: OrgTransaction, quotaPath: string): Promise<LevelRow> {
  const { db, org } = transaction;
  const { pattern, references } = parseSingletonPath("Quota", [patterns.Org, patterns.Project], quotaPath, field);
  const [top, ...rest] = references;
  requireSameOrg(transaction, required(top), field);
  const level = required(levels.find((each) => isSamePattern(each.pattern, pattern)));
  const found = await findLevel(db, level, [{ by: "id", value: org.id, shown: org.name }, ...rest]);
  if (found.isDeleted) throw deleted(found.kind, found.path);
  return found;
}

/** Reads the quota of an existing request. Its project may be deleted. */
export function readQuota(
  db: Transaction<Schema>,
  { org_id: orgId, project_id: projectId }: QuotaRequestRow,
): Promise<LevelRow> {
  const level = projectId === null ? { kind: "org" as const, id: orgId } : { kind: "project" as const, id: projectId };
  return findLevelById(db, { ...level, orgId });
}
