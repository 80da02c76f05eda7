// Decides about access requests, and ends them, under the lock of their org: of two servers that decide at once, one finds the request
// decided.
import type { Updateable } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Schema } from "../../database/schema.ts";
import { isInGuardedCustomer } from "../../database/support-required.ts";
import { required } from "../../errors/required.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { approveFirst } from "./approvals.ts";
import type { RequestBindings } from "./bindings.ts";
import type { accessRequestDefinition } from "./definition.ts";
import { requireEligible, requireState } from "./require-state.ts";
import { accessRequestPath, wantedResourcePath } from "./message.ts";
import { type AccessRequestRow, countApproved } from "./store.ts";
import {
  type Viewer,
  isOwn,
  lacks,
  maySee,
  notSeen,
  mayEnd,
  permissionToRevoke,
  requireMayCancel,
  requireMayDecide,
} from "./who-may.ts";

export type ServedAccessRequests = ServedResource<
  "access_requests",
  AccessRequestRow,
  typeof accessRequestDefinition.schema
>;

/** What a caller answers. */
export type Answer =
  | { readonly verb: "approve" | "decline"; readonly message: string; readonly etag: string }
  | { readonly verb: "cancel" | "end"; readonly etag: string };

/**
 * Answers a request, under the lock of its org.
 *
 * @throws ServiceError RESOURCE_NOT_FOUND, ETAG_STALE, PERMISSION_DENIED (also for one that the author may not see), GRANT_EXCEEDS_OWN,
 *   REVOKE_EXCEEDS_OWN, or STATE_FORBIDS.
 */
export async function answerRequest(
  served: ServedAccessRequests,
  bindings: RequestBindings,
  transaction: OrgTransaction,
  path: readonly Reference[],
  answer: Answer,
): Promise<AccessRequestRow> {
  const { reader, dependencies } = served;
  const { author } = transaction;
  const found = await reader.find(transaction.db, path);
  const holds = await dependencies.authorHolds.now(transaction);
  const viewer: Viewer = { orgId: author.actorOrgId, memberId: author.actorId, holds };
  if (found === undefined || !(await maySee(found, viewer)))
    throw await notSeen(path, `iam.accessRequests.${answer.verb}`, holds);
  const row = await requireFound(served, transaction, found, path, answer.etag);
  return write(served, transaction, row, await changeOf(served, bindings, transaction, row, answer, viewer));
}

type Columns = Updateable<Schema["access_requests"]>;

async function changeOf(
  served: ServedAccessRequests,
  bindings: RequestBindings,
  transaction: OrgTransaction,
  row: AccessRequestRow,
  answer: Answer,
  viewer: Viewer,
): Promise<Columns> {
  const { author, time } = transaction;
  const decided = { decider_org_id: author.actorOrgId, decider_id: author.actorId, decide_time: time };
  const ended = { ender_org_id: author.actorOrgId, ender_id: author.actorId, end_time: time };
  switch (answer.verb) {
    case "approve": {
      await requireMayDecide(transaction, row, viewer.holds);
      requireState(row, "PENDING", "it cannot be decided again");
      requireEligible(row);
      const isOfPlatform = row.supporter_id !== null;
      if (isOfPlatform) await requireMaySupport(served, transaction, row);
      const first = await approveFirst(served.dependencies, transaction, row, answer.message);
      if (first !== undefined) return first;
      const bindingId = isOfPlatform ? null : await bindings.grant(transaction, row);
      return { ...decided, state: "APPROVED", decision_message: answer.message, binding_id: bindingId };
    }
    case "decline":
      await requireMayDecide(transaction, row, viewer.holds);
      requireState(row, "PENDING", "it cannot be decided again");
      return { ...decided, state: "DECLINED", decision_message: answer.message };
    case "cancel":
      if (!isOwn(row, viewer)) await requireMayCancel(row, viewer.holds);
      requireState(row, "PENDING", "it cannot be withdrawn");
      return { ...ended, state: "CANCELLED" };
    case "end":
      if (!isOwn(row, viewer) && !(await mayEnd(row, viewer.holds))) throw lacks(permissionToRevoke, row, "end");
      requireState(row, "APPROVED", "there is no access to end");
      if (row.supporter_id === null) await bindings.revoke(transaction, row);
      return { ...ended, state: "ENDED" };
  }
}

/** How many approved requests of members of the platform an org has at a time: decisions about these members read all of them. */
const maxApproved = 100;

/**
 * Checks that the author may approve a request of a member of the platform: it holds what the role gives, as for a grant.
 *
 * @throws ServiceError STATE_FORBIDS, GRANT_EXCEEDS_OWN, LIMIT_EXCEEDED
 */
async function requireMaySupport(
  { dependencies }: ServedAccessRequests,
  transaction: OrgTransaction,
  row: AccessRequestRow,
): Promise<void> {
  if (!(await isInGuardedCustomer(transaction.db, row.org_id))) {
    const path = accessRequestPath(row);
    throw stateForbids(`${path} needs no approval: no org of the customer requires one now`, path, row.current_state);
  }
  const role = { predefined: required(row.predefined_role) };
  await dependencies.escalation.requireMayGrant(transaction, [{ role, scope: { kind: "org", id: row.org_id } }]);
  if ((await countApproved(transaction)) < maxApproved) return;
  const path = wantedResourcePath(row);
  const description = `${maxApproved} requests of members of the platform are approved at the same time; end one first`;
  throw new ServiceError("LIMIT_EXCEEDED", description, {
    metadata: { resource: path, limit: String(maxApproved) },
    quotas: [{ subject: path, description }],
  });
}

async function write(
  { definition }: ServedAccessRequests,
  transaction: OrgTransaction,
  row: AccessRequestRow,
  columns: Columns,
): Promise<AccessRequestRow> {
  const { db, org, revision, time } = transaction;
  await updateRow({ db, org, revision, time }, definition, row, { columns });
  // The row has the names of who decided, and the role binding, only when it is read again.
  const after = required((await readByKeys(db, definition, [row]))[0]);
  recordChange(transaction, definition, row, after);
  return after;
}
