import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { ResourceType } from "../../paths/patterns.ts";
import type { ScopeKind } from "../scope-kinds.ts";

/** The scope on which a role is granted; the id is empty for the platform. */
export interface GrantScope {
  readonly kind: ScopeKind;
  readonly id: string;
}

/** A predefined role by name, or a role of the transaction's org by id. */
export type GrantedRole = { readonly predefined: string } | { readonly id: string };

export type LabelValues = Readonly<Record<string, string>>;

/** A resource that is renamed, and the scope that contains it. */
export interface Renamed {
  readonly type: ResourceType;
  readonly id: string;
  readonly scope: GrantScope;
}

/**
 * Prevents privilege escalation: nobody can widen what they, or others, may do beyond what they hold themselves. Each method
 * must be called in the transaction that makes the change. It checks the author of the transaction and throws a ServiceError
 * GRANT_EXCEEDS_OWN (status PERMISSION_DENIED) if the author does not hold everything that the change would pass on.
 */
export interface EscalationGuard {
  /** Checks that the author may grant a role on a scope. */
  requireMayGrant(transaction: OrgTransaction, role: GrantedRole, scope: GrantScope): Promise<void>;
  /** Checks that the author may put these permissions into a role of the org. */
  requireMayDefine(transaction: OrgTransaction, permissions: readonly string[]): Promise<void>;
  /** Checks that the author may add a member to this group, or nest a group in it. */
  requireMayJoin(transaction: OrgTransaction, groupId: string): Promise<void>;
  /** Checks that the author may create an API key with which a client acts as this member. */
  requireMayActAs(transaction: OrgTransaction, memberId: string): Promise<void>;
  /** Checks that the author may rename a resource. Conditions may refer to its path, and to the paths below it. */
  requireMayRename(transaction: OrgTransaction, renamed: Renamed): Promise<void>;
  /** Checks that the author may change the labels of the org or a project, which conditions may read. */
  requireMayRelabel(
    transaction: OrgTransaction,
    scope: GrantScope,
    before: LabelValues,
    after: LabelValues,
  ): Promise<void>;
}
