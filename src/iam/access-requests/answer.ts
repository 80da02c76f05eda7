// Decides about access requests, and ends them, under the lock of their org: of two servers that decide at once, one finds the request
// decided.
import type { Updateable } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Schema } from "../../database/schema.ts";
import { required } from "../../errors/required.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import type { RequestBindings } from "./bindings.ts";
import type { accessRequestDefinition } from "./definition.ts";
import { requireEligible, requireState } from "./require-state.ts";
import type { AccessRequestRow } from "./store.ts";
import {
  type Viewer,
  isOwn,
  lacks,
  maySee,
  notSeen,
  permissionToRevoke,
  requireMayCancel,
  requireMayDecide,
  scopeOf,
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
  return write(served, transaction, row, await changeOf(bindings, transaction, row, answer, viewer));
}

type Columns = Updateable<Schema["access_requests"]>;

async function changeOf(
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
      const bindingId = await bindings.grant(transaction, row);
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
      if (!isOwn(row, viewer) && !(await viewer.holds(permissionToRevoke, scopeOf(row))))
        throw lacks(permissionToRevoke, row, "end");
      requireState(row, "APPROVED", "there is no access to end");
      await bindings.revoke(transaction, row);
      return { ...ended, state: "ENDED" };
  }
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
