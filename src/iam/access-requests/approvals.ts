// The first of two approvals. It counts as long as its member could approve: that is decided again when another member approves.
import { type Updateable, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Schema } from "../../database/schema.ts";
import { supportRequiredSince } from "../../database/support-required.ts";
import { required } from "../../errors/required.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { type MemberKey, couldGrant, wantedGrant } from "./authority.ts";
import { accessRequestPath, askingMemberPath, pathOfPerson } from "./message.ts";
import { isSamePerson } from "./same-person.ts";
import type { AccessRequestRow } from "./store.ts";

type Columns = Updateable<Schema["access_requests"]>;

/**
 * Returns the columns of an approval that is not enough; undefined if the author's approval decides.
 *
 * @throws ServiceError PERMISSION_DENIED when the author is the person that asks or that has approved, as another member; GRANT_EXCEEDS_OWN, or
 *   STATE_FORBIDS when the author has approved already.
 */
export async function approveFirst(
  { escalation, ...others }: Pick<ResourceDependencies, "authorHolds" | "escalation">,
  transaction: OrgTransaction,
  row: AccessRequestRow,
  message: string,
): Promise<Columns | undefined> {
  const { author, time } = transaction;
  const asking = askerOf(row);
  await requireOtherPerson(transaction, row, asking, {
    has: "asks for the access itself with",
    as: askingMemberPath(row),
  });
  if (row.wanted_approvals < 2) return undefined;
  const first = (await isOfEarlierRequirement(transaction, row)) ? undefined : approverOf(row);
  if (first !== undefined && first.orgId === author.actorOrgId && first.memberId === author.actorId) {
    const path = accessRequestPath(row);
    throw stateForbids(
      `the caller has approved ${path} already: another member has to approve it, too`,
      path,
      "PENDING",
    );
  }
  const counts =
    first !== undefined &&
    !(await isSamePerson(transaction.db, first, asking)) &&
    (await couldGrant({ escalation, ...others }, transaction, row, first));
  if (counts) {
    await requireOtherPerson(transaction, row, first, {
      has: "has already approved",
      as: pathOfPerson(row, "approver"),
    });
    return undefined;
  }
  await escalation.requireMayGrant(transaction, [wantedGrant(row)]);
  return {
    approver_org_id: author.actorOrgId,
    approver_id: author.actorId,
    approval_message: message,
    approve_time: time,
  };
}

/**
 * Reports whether the first approval of a request of a member of the platform was given before the org last changed whether it requires one: then it does
 * not count, as no approval does that decided before.
 */
async function isOfEarlierRequirement({ db, org }: OrgTransaction, row: AccessRequestRow): Promise<boolean> {
  if (row.supporter_id === null || row.approve_time === null) return false;
  const { rows } = await sql<{ is_earlier: boolean }>`
    select coalesce(${row.approve_time} < ${supportRequiredSince}, true) as is_earlier from orgs where id = ${org.id}`.execute(
    db,
  );
  return rows[0]?.is_earlier !== false;
}

/** Returns who asks: a member of the org, or one of the platform. */
function askerOf(row: AccessRequestRow): MemberKey {
  return row.member_id === null
    ? { orgId: required(row.supporter_org_id), memberId: required(row.supporter_id) }
    : { orgId: row.org_id, memberId: row.member_id };
}

/** Returns who has approved first; undefined if nobody has, or who has is no longer there. */
function approverOf(row: AccessRequestRow): MemberKey | undefined {
  const { approver_org_id: orgId, approver_id: memberId, approver_org_name: orgName, approver_name: name } = row;
  if (orgId === null || memberId === null || orgName === null || name === null) return undefined;
  return { orgId, memberId };
}

/** Checks that the author is not somebody who has a part in a request as another member. @throws ServiceError PERMISSION_DENIED */
async function requireOtherPerson(
  { db, author }: OrgTransaction,
  row: AccessRequestRow,
  other: MemberKey,
  { has, as }: { readonly has: string; readonly as: string },
): Promise<void> {
  const { actorOrgId: orgId, actorId: memberId } = author;
  if (orgId === null || memberId === null || !(await isSamePerson(db, { orgId, memberId }, other))) return;
  const path = accessRequestPath(row);
  const message = `the caller ${has} ${path}, as ${as}: both members have one identity; another person has to approve it`;
  throw new ServiceError("PERMISSION_DENIED", message, { metadata: { resource: path } });
}
