import type { ColumnType } from "kysely";
import type { Amounts, NamedColumns } from "./shared-columns.ts";

/** @public */
export interface QuotaRequests extends NamedColumns {
  customer_id: string;
  org_id: string;
  /** The project whose quota the request is about; null for the quota of the org. */
  project_id: string | null;
  limits: Amounts;
  state: "PENDING" | "APPROVED" | "REJECTED";
  granted_limits: Amounts;
  decision_message: string;
  actor_org_id: string | null;
  actor_id: string | null;
  decider_org_id: string | null;
  decider_id: string | null;
  /** Null until the request is decided. */
  decide_time: ColumnType<Date | null, null, string>;
}
