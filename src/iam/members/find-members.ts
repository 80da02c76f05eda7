import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { LookupInTransaction } from "../../database/path-lookup.ts";
import { required } from "../../errors/required.ts";
import { deleted, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { findParents } from "../../standard-methods/batch/find-parents.ts";
import type { MemberRow } from "./store.ts";

/**
 * Finds the members in which resources are to be created. Returns a function for each that returns the member, or throws.
 *
 * @throws ServiceError (the functions) RESOURCE_NOT_FOUND or STATE_FORBIDS.
 */
export async function findMembers(
  transaction: OrgTransaction,
  members: LookupInTransaction<MemberRow>,
  parents: readonly (readonly Reference[])[],
): Promise<(() => MemberRow)[]> {
  const found = await findParents(transaction, members, parents);
  return found.map((member, index) => () => {
    const path = formatReferences(patterns.Member, required(parents[index]));
    if (member === undefined) throw notFound("member", path);
    if (member.delete_time !== null) throw deleted("member", path);
    return member;
  });
}
