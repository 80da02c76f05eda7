import type { ColumnType, Generated } from "kysely";
import type { VersionColumns } from "./shared-columns.ts";

/** @public */
export interface AccessRequests extends VersionColumns {
  customer_id: string;
  org_id: string;
  id: string;
  /** The project on which a role is wanted; null for the org. */
  project_id: string | null;
  /** The member that asks; null for one of the platform. */
  member_id: string | null;
  /** The member of the platform that asks, and its org; null for one of the org. */
  supporter_org_id: string | null;
  supporter_id: string | null;
  /** The name that it had when it asked. */
  supporter_name: string | null;
  /** Either the name of a predefined role or the id of a role of the org is set. */
  predefined_role: string | null;
  role_id: string | null;
  reason: string;
  expire_time: ColumnType<Date, Date, never>;
  /** From then on it is EXPIRED if it is PENDING. */
  lapse_time: ColumnType<Date, Date, never>;
  /** As it was written: time, and what becomes of the role binding, make an EXPIRED or ENDED one of it. */
  state: "PENDING" | "APPROVED" | "DECLINED" | "CANCELLED" | "ENDED";
  /** Who has approved first, where the org wants two approvals. */
  approver_org_id: string | null;
  approver_id: string | null;
  approval_message: string | null;
  approve_time: ColumnType<Date | null, null, string>;
  decider_org_id: string | null;
  decider_id: string | null;
  decision_message: string;
  decide_time: ColumnType<Date | null, null, string>;
  /** The role binding that the approval made. It may be gone. */
  binding_id: string | null;
  /** Who withdrew it, or ended the access. */
  ender_org_id: string | null;
  ender_id: string | null;
  end_time: ColumnType<Date | null, null, string>;
  /** Whether it has begun without a decision. */
  break_glass: Generated<boolean>;
}

/** An org because of which members of the platform need an approval in its customer. Both may be purged. */
interface GuardingOrgs {
  customer_id: string;
  org_id: string;
  since: ColumnType<Date, Date | string, Date | string>;
}

export interface AccessRequestTables {
  access_requests: AccessRequests;
  guarding_orgs: GuardingOrgs;
}
