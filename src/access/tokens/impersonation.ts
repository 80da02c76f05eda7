// A member that impersonates another one acts as that member, and may do only what both hold. Its permission to impersonate is
// checked for each call, so that an impersonation ends with it.
import type { Caller } from "../../identity/caller.ts";
import { patterns } from "../../paths/patterns.ts";
import type { AccessToken } from "../../identity/tokens/access-token.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { AccessEvaluator } from "../evaluation/evaluator.ts";
import { createRequestConditions } from "../evaluation/condition-budget.ts";

export const impersonatePermission = "iam.members.impersonate";

/** Returns the path of a member, by ids. */
export function pathOfMember({ orgId, memberId }: Pick<Caller, "orgId" | "memberId">) {
  const references = [
    { by: "id", value: orgId },
    { by: "id", value: memberId },
  ] as const;
  return { pattern: patterns.Member, references };
}

/** Returns the impersonator of a caller as a caller of its own; undefined if nobody impersonates it. */
export function impersonatorOf(caller: Caller): Caller | undefined {
  const { impersonator } = caller;
  if (impersonator === undefined) return undefined;
  const { memberId } = impersonator;
  return { ...caller, memberId, scopes: undefined, projectId: undefined, impersonator: undefined };
}

/**
 * Reports whether the impersonator of a token may still impersonate its member.
 *
 * @param now the database's clock, in milliseconds.
 */
export async function mayImpersonate(
  evaluator: AccessEvaluator,
  snapshot: OrgSnapshot,
  token: AccessToken,
  now: number,
): Promise<boolean> {
  const { impersonator } = token;
  if (impersonator === undefined) return true;
  const subject = { kind: "member", id: impersonator.memberId } as const;
  const check = { subject, now, attributes: {}, counted: "all", conditions: createRequestConditions() } as const;
  return (await evaluator.resolveAllowed(snapshot, check, impersonatePermission, pathOfMember(token))) !== undefined;
}
