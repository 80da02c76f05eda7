// Approves and rejects quota requests, under the lock of their org, under which the limits of its quotas change as well.
import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { mapEntry } from "../../errors/map-entry.ts";
import { required } from "../../errors/required.ts";
import { type FieldViolation, ServiceError, deleted, invalidFields } from "../../errors/service-error.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { maxViolations } from "../../validation/validate-message.ts";
import { type LevelRow, pathAbove } from "../../quotas/levels.ts";
import { isRaised, mayRaise } from "../quotas/may-raise.ts";
import { permissionToUpdateQuotas } from "../../quotas/permission.ts";
import { setLimits } from "../quotas/set-limits.ts";
import type { quotaRequestDefinition } from "./definition.ts";
import { toQuotaRequest } from "./message.ts";
import { readQuota } from "./quota-of.ts";
import { requirePending } from "./require-pending.ts";
import type { QuotaRequestRow } from "./store.ts";
import { type WantedLimits, wantedLimits } from "./wanted-limits.ts";

export type ServedQuotaRequests = ServedResource<
  "quota_requests",
  QuotaRequestRow,
  typeof quotaRequestDefinition.schema
>;

export type Decision =
  /** Without `limits`, what the request asks for is granted. */
  { readonly state: "APPROVED"; readonly limits: WantedLimits } | { readonly state: "REJECTED" };

interface DecisionRequest {
  readonly etag: string;
  readonly message: string;
}

/**
 * Decides a request, under the lock of its org.
 *
 * @throws ServiceError PERMISSION_DENIED, STATE_FORBIDS, or FIELD_INVALID.
 */
export async function decide(
  served: ServedQuotaRequests,
  transaction: OrgTransaction,
  path: readonly Reference[],
  { etag, message }: DecisionRequest,
  decision: Decision,
): Promise<QuotaRequestRow> {
  const { reader, dependencies } = served;
  const { db, author, time } = transaction;
  const row = await requireFound(served, transaction, await reader.find(db, path), path, etag);
  const level = await readQuota(db, row);
  await requireMayDecide(dependencies.authorHolds, transaction, level);
  requirePending(row, "it cannot be decided again");
  const granted = decision.state === "APPROVED" ? await grant(transaction, row, level, decision.limits) : {};
  return updateDecided(served, transaction, row, {
    state: decision.state,
    granted_limits: JSON.stringify(granted),
    decision_message: message,
    decider_org_id: author.actorOrgId,
    decider_id: author.actorId,
    decide_time: time,
  });
}

/**
 * Raises the limits of a quota to those that a request asks for, or to others. Returns the limits that it set: a limit that is
 * as high by now, or gone, stays as it is.
 */
async function grant(
  transaction: OrgTransaction,
  row: QuotaRequestRow,
  level: LevelRow,
  instead: WantedLimits,
): Promise<WantedLimits> {
  if (level.isDeleted) throw deleted(level.kind, level.path);
  requireAskedFor(row, instead);
  const limits = Object.keys(instead).length === 0 ? row.limits : instead;
  const raised = wantedLimits(level, limits).filter(isRaised);
  await setLimits(transaction, level, raised);
  return Object.fromEntries(raised.map(({ kind, after }) => [kind, Number(after)]));
}

/** @throws ServiceError FIELD_INVALID that names each kind that the request does not ask for. */
function requireAskedFor({ limits }: QuotaRequestRow, instead: WantedLimits): void {
  const kinds = Object.keys(limits);
  const violations = Object.keys(instead)
    .filter((kind) => !kinds.includes(kind))
    .map((kind): FieldViolation => ({
      field: mapEntry("limits", kind),
      description: `is not asked for; the quota request asks for ${kinds.toSorted().join(", ")}`,
      rule: "quota_request.kind",
    }));
  if (violations.length > 0) throw invalidFields(violations.slice(0, maxViolations));
}

/** Checks that the author may raise limits of a quota, whichever way it decides. @throws ServiceError PERMISSION_DENIED */
async function requireMayDecide(authorHolds: AuthorHolds, transaction: OrgTransaction, level: LevelRow): Promise<void> {
  if (await mayRaise(authorHolds, transaction, level)) return;
  const resource = pathAbove(level.above);
  const message = `the caller may not decide about limits of ${level.path}, which requires the permission ${permissionToUpdateQuotas} on ${resource}`;
  throw new ServiceError("PERMISSION_DENIED", message, {
    metadata: { permission: permissionToUpdateQuotas, resource },
  });
}

async function updateDecided(
  { definition }: ServedQuotaRequests,
  transaction: OrgTransaction,
  row: QuotaRequestRow,
  columns: NonNullable<Parameters<typeof updateRow<"quota_requests", QuotaRequestRow>>[3]>["columns"],
): Promise<QuotaRequestRow> {
  const { db, org, revision, time } = transaction;
  await updateRow({ db, org, revision, time }, definition, row, { fields: toQuotaRequest(row), columns });
  // The row has the names of who decided only when it is read again.
  const decided = required((await readByKeys(db, definition, [row]))[0]);
  recordChange(transaction, definition, row, decided);
  return decided;
}
