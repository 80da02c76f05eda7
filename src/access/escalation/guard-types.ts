import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { ResourceType } from "../../paths/patterns.ts";
import type { ScopeKind } from "../scope-kinds.ts";
import type { WayToAct } from "./require-within.ts";

/** The scope on which a role is granted; the id is empty for the platform. */
export interface GrantScope {
  readonly kind: ScopeKind;
  readonly id: string;
}

/** A predefined role by name, or a role of the transaction's org by id. */
export type GrantedRole = { readonly predefined: string } | { readonly id: string };

export interface RoleGrant {
  readonly role: GrantedRole;
  readonly scope: GrantScope;
}

export type LabelValues = Readonly<Record<string, string>>;

/** A resource that is renamed, and the scope that contains it. */
export interface Renamed {
  readonly type: ResourceType;
  readonly id: string;
  readonly scope: GrantScope;
}

/** Access that a change takes away. `memberId` is the only member who loses it; null for any number of members. */
export type Revocation =
  /** Everything that a member holds, by itself and through groups. */
  | { readonly kind: "member"; readonly memberId: string }
  /** Everything that a group is granted, also through the groups in which it is nested. */
  | { readonly kind: "group"; readonly groupId: string; readonly memberId: string | null }
  | {
      readonly kind: "role";
      readonly role: GrantedRole;
      readonly scope: GrantScope;
      readonly memberId: string | null;
    }
  /** Permissions of a custom role, wherever it is granted. */
  | {
      readonly kind: "permissions";
      readonly roleId: string;
      readonly permissions: readonly string[];
      readonly memberId: null;
    };

/**
 * Prevents privilege escalation: nobody can widen what they, or others, may do beyond what they hold themselves, and nobody can
 * take from others what they do not hold themselves. Each method must be called in the transaction that makes the change, before
 * the change. It checks the author of the transaction and throws a ServiceError (status PERMISSION_DENIED) if the author does
 * not hold everything that the change would pass on (GRANT_EXCEEDS_OWN) or take away (REVOKE_EXCEEDS_OWN).
 */
export interface EscalationGuard {
  requireMayGrant(transaction: OrgTransaction, grants: readonly RoleGrant[]): Promise<void>;
  /**
   * Checks that the author may begin access to the org or a project in it without a decision: it holds the permission for that there, which is worth every
   * permission, for good and without a condition, so that nobody renews by such access what it gives.
   */
  requireMayBreakGlass(transaction: OrgTransaction, scope: GrantScope): Promise<void>;
  /** Checks that the author may put these permissions into a role of the org. */
  requireMayDefine(transaction: OrgTransaction, permissions: readonly string[]): Promise<void>;
  /** Checks that the author may add members to these groups, or nest groups in them. */
  requireMayJoin(transaction: OrgTransaction, groupIds: readonly string[]): Promise<void>;
  /**
   * Checks that the author may create or change an API key with which a client acts as this member and counts grants up to
   * this revision; null if all count.
   */
  requireMayActAs(transaction: OrgTransaction, memberId: string, grantsUntil: string | null): Promise<void>;
  /**
   * Checks that the author may impersonate this member. What it does then is limited to what both hold, but the application of a SCIM source
   * may do more than it holds.
   */
  requireMayImpersonate(transaction: OrgTransaction, memberId: string): Promise<void>;
  /**
   * Checks that the author may take this access away. What a member takes from itself, with an API key that is not limited,
   * is not restricted.
   */
  requireMayRevoke(transaction: OrgTransaction, revocations: readonly Revocation[]): Promise<void>;
  /**
   * Checks that the author may let an API key of this member count everything that the member is granted from now on. The key must
   * go no further than the credential of the author.
   */
  requireMayConfirm(transaction: OrgTransaction, memberId: string, key: WayToAct): Promise<void>;
  /**
   * Checks that the author may let people sign in as this member, who count everything that it is granted from now on. The
   * credential of the author must be without an end and for all addresses.
   */
  requireMayLink(transaction: OrgTransaction, memberId: string): Promise<void>;
  /**
   * Reports whether the author holds everything on the org that the role `owner` holds, without a condition or an expire time,
   * and makes the call with an API key that is not limited.
   */
  isOwner(transaction: OrgTransaction): Promise<boolean>;
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
