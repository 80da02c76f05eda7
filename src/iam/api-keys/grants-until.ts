import { exceedsCounted, maxCounted } from "../../access/evaluation/limited-grants.ts";
import type { EscalationGuard } from "../../access/escalation/guard-types.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { memberPath } from "../members/message.ts";
import type { MemberRow } from "../members/store.ts";

/**
 * Returns the revision of the org up to which grants count for new API keys of a member; null if all count. Those who
 * grant something to the member later may not know that somebody else has a key.
 *
 * @throws ServiceError LIMIT_EXCEEDED when more role bindings would count than may.
 */
export async function grantsUntilOf(
  transaction: OrgTransaction,
  member: MemberRow,
  escalation: EscalationGuard,
): Promise<string | null> {
  const { org, author, revision } = transaction;
  if (member.type === "APPLICATION") return null;
  if (author.actorId === member.id) return author.grantsUntil;
  if (await escalation.isOwner(transaction)) return null;
  const limited = { orgId: org.id, memberId: member.id, grantsUntil: revision };
  if (await exceedsCounted(transaction, limited)) throw tooManyBindings(memberPath(member));
  return revision;
}

function tooManyBindings(path: string): ServiceError {
  const description = `the member ${path} holds more than ${maxCounted} role bindings: only the member itself or an owner of the org can create its API keys`;
  return new ServiceError("LIMIT_EXCEEDED", description, {
    metadata: { resource: path, limit: String(maxCounted) },
    quotas: [{ subject: path, description }],
  });
}
