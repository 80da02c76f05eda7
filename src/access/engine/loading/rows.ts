// Rows as the tables store them and as the change log has them in JSON, where times are texts. A number is a time in
// milliseconds.
import type { EntityState, StoredState } from "../tables/entity-table.ts";
import type { Labels } from "../tables/label-table.ts";
import type { TokenEnd } from "../tables/token-table.ts";

/**
 * `delete_time` is set on a soft-deleted resource, which can be undeleted. A resource without the column is removed when it is
 * deleted.
 */
interface DeletableRow {
  readonly id: string;
  readonly name: string;
  readonly delete_time?: Time;
}

export type Time = Date | string | number | null;

export interface OrgRow extends DeletableRow {
  readonly customer_id: string;
  readonly state: "ACTIVE" | "SUSPENDED";
  readonly labels?: Labels;
}

export interface MemberRow extends DeletableRow {
  readonly state: "INVITED" | "ACTIVE" | "SUSPENDED";
  readonly token_gen?: string | null;
}

/** What has ended tokens before they expired. */
export interface EndedTokenRow {
  readonly id: string;
  readonly type: TokenEnd;
  readonly end_time: Time;
}

export interface ExpiringRow {
  readonly expire_time?: Time;
}

export interface ProjectRow extends DeletableRow {
  readonly state: "ACTIVE" | "SUSPENDED";
  readonly labels?: Labels;
}

export type GroupRow = DeletableRow;

export interface MembershipRow {
  readonly group_id: string;
  readonly member_id: string;
  readonly expire_time: Time;
}

export interface SubgroupRow {
  readonly group_id: string;
  readonly subgroup_id: string;
}

export interface RoleRow extends DeletableRow {
  readonly permissions: readonly string[];
}

export interface RoleBindingRow {
  readonly id: string;
  readonly scope_type: "platform" | "customer" | "service" | "org" | "project";
  /** Null for the platform. */
  readonly scope_id: string | null;
  readonly subject_type: "member" | "group";
  readonly subject_id: string;
  /** The id of a custom role; null for a predefined role. */
  readonly role_id: string | null;
  /** The name of a predefined role; null for a custom role. */
  readonly predefined_role: string | null;
  readonly start_time: Time;
  readonly expire_time: Time;
  /** Empty for none. */
  readonly condition: string;
}

/** Returns a time in milliseconds, or `none` for null. */
export function readTime(time: Time, none: number): number {
  if (time === null) return none;
  if (typeof time === "number") return time;
  return typeof time === "string" ? Date.parse(time) : time.getTime();
}

/** Returns the state of the entity of a row: DELETED if it has a delete time. A row without a state is ACTIVE. */
export function stateOf(row: { readonly state?: EntityState; readonly delete_time?: Time }): EntityState {
  return (row.delete_time ?? null) === null ? (row.state ?? "ACTIVE") : "DELETED";
}

/** Returns the state of a project as the snapshot stores it. */
export function projectStateOf(row: ProjectRow): StoredState {
  const state = stateOf(row);
  return state === "DELETED" && row.state === "SUSPENDED" ? "SUSPENDED AND DELETED" : state;
}
