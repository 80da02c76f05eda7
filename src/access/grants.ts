import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { ResourceType } from "../paths/patterns.ts";
import type { ScopeKind } from "./scope-kinds.ts";

/** What a role is granted on; the id is empty for the platform. */
export interface GrantScope {
  readonly kind: ScopeKind;
  readonly id: string;
}

/** A predefined role by its name, or one of the transaction's org by its id. */
export type GrantedRole = { readonly predefined: string } | { readonly id: string };

export type Labels = Readonly<Record<string, string>>;

/** A resource that gets another name, and what is around it. */
export interface Renamed {
  readonly type: ResourceType;
  readonly id: string;
  readonly scope: GrantScope;
}

/**
 * Keeps people from widening what they, or others, may do beyond what they hold themselves. Each method is called in the
 * transaction that makes the change, with its author, and throws a ServiceError PERMISSION_DENIED.
 */
export interface Grants {
  /** May the author grant this role there? */
  requireMayGrant(transaction: OrgTransaction, role: GrantedRole, scope: GrantScope): Promise<void>;
  /** May the author put these permissions into a role of the org? */
  requireMayDefine(transaction: OrgTransaction, permissions: readonly string[]): Promise<void>;
  /** May the author add a member to this group, or nest a group in it? */
  requireMayJoin(transaction: OrgTransaction, groupId: string): Promise<void>;
  /** May the author make a key with which one acts as this member? */
  requireMayActAs(transaction: OrgTransaction, memberId: string): Promise<void>;
  /** May the author give something another name, as which conditions may know it and all below it? */
  requireMayRename(transaction: OrgTransaction, renamed: Renamed): Promise<void>;
  /** May the author give the org or a project other labels, at which conditions may look? */
  requireMayRelabel(transaction: OrgTransaction, scope: GrantScope, before: Labels, after: Labels): Promise<void>;
}
