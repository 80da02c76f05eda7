// What a member that is not the author of a change could grant, as it is under the lock of the org.
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { RoleGrant } from "../../access/escalation/guard-types.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import type { AccessRequestRow } from "./store.ts";
import { mayGrant } from "./who-may.ts";

/** A member of any org. */
export interface MemberKey {
  readonly orgId: string;
  readonly memberId: string;
}

/** Returns the transaction as one whose author is a member with all that it holds. What is recorded there is recorded for the author. */
function onAuthorityOf(transaction: OrgTransaction, { orgId, memberId }: MemberKey): OrgTransaction {
  const { author } = transaction;
  const whole = { grantsUntil: null, narrowing: undefined, provisions: undefined };
  const origin = { ...author.origin, credentialId: null };
  return {
    ...transaction,
    authorHead: undefined,
    author: { ...author, ...whole, origin, actorOrgId: orgId, actorId: memberId },
  };
}

type Wanted = Pick<AccessRequestRow, "org_id" | "project_id" | "predefined_role" | "role_id">;

/** Returns the grant that a request asks for. */
export function wantedGrant({
  org_id: orgId,
  project_id: projectId,
  predefined_role: predefined,
  role_id: id,
}: Wanted): RoleGrant {
  const role = predefined === null ? { id: id ?? "" } : { predefined };
  return {
    role,
    scope: projectId === null ? { kind: "org", id: orgId } : { kind: "project", id: projectId },
  };
}

/** Reports whether a member could grant now what a request asks for. */
export async function couldGrant(
  { authorHolds, escalation }: Pick<ResourceDependencies, "authorHolds" | "escalation">,
  transaction: OrgTransaction,
  row: Wanted,
  member: MemberKey,
): Promise<boolean> {
  const asMember = onAuthorityOf(transaction, member);
  if (!(await mayGrant(await authorHolds.now(asMember), row))) return false;
  try {
    await escalation.requireMayGrant(asMember, [wantedGrant(row)]);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.reason === "GRANT_EXCEEDS_OWN") return false;
    throw error;
  }
}
