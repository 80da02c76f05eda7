import type { OrgTransaction } from "../changes/write-in-org.ts";

/** What a role is granted on; the id is empty for the platform. */
export interface GrantScope {
  readonly kind: "platform" | "customer" | "org" | "project";
  readonly id: string;
}

/** A predefined role by its name, or one of the transaction's org by its id. */
export type GrantedRole = { readonly predefined: string } | { readonly id: string };

/** What conditions see of an org or project. */
interface Described {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Keeps people from widening what they, or others, may do beyond what they hold themselves. Each method is called in the
 * transaction that makes the change, with its author, and throws a ServiceError PERMISSION_DENIED.
 */
export interface Grants {
  /** May the author give somebody this role there? */
  requireMayGrant(transaction: OrgTransaction, role: GrantedRole, scope: GrantScope): Promise<void>;
  /** May the author put these permissions into a role of the org? */
  requireMayDefine(transaction: OrgTransaction, permissions: readonly string[]): Promise<void>;
  /** May the author put somebody into this group, or nest a group in it? */
  requireMayJoin(transaction: OrgTransaction, groupId: string): Promise<void>;
  /** May the author make a key with which one acts as this member? */
  requireMayActAs(transaction: OrgTransaction, memberId: string): Promise<void>;
  /** May the author give this member another name, as which conditions may know it? */
  requireMayRename(transaction: OrgTransaction, memberId: string): Promise<void>;
  /** May the author give the org or a project this name and these labels, at which conditions may look? */
  requireMayDescribe(
    transaction: OrgTransaction,
    scope: GrantScope & { readonly kind: "org" | "project" },
    before: Described,
    after: Described,
  ): Promise<void>;
}
