// Rows as the tables hold them and as lines of the change log show them in JSON, where times are texts. A number is a time in
// milliseconds.
import type { EntityState } from "./entity-table.ts";
import type { Labels } from "./label-table.ts";

/** `delete_time` stands for a resource that can be undeleted; whatever lacks the column is gone when it is deleted. */
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
  readonly scope_type: "platform" | "customer" | "org" | "project";
  /** Null for the platform. */
  readonly scope_id: string | null;
  readonly subject_type: "member" | "group";
  readonly subject_id: string;
  /** A custom role; null when the role is a predefined one. */
  readonly role_id: string | null;
  /** A predefined role by its name; null when the role is a custom one. */
  readonly predefined_role: string | null;
  readonly start_time: Time;
  readonly expire_time: Time;
  /** Empty for none. */
  readonly condition: string;
}

/** A time in milliseconds, or what null stands for. */
export function readTime(time: Time, none: number): number {
  if (time === null) return none;
  if (typeof time === "number") return time;
  return typeof time === "string" ? Date.parse(time) : time.getTime();
}

/** What becomes of a row's state and deletion; rows without a state are ACTIVE. */
export function stateOf(row: { readonly state?: EntityState; readonly delete_time?: Time }): EntityState {
  return (row.delete_time ?? null) === null ? (row.state ?? "ACTIVE") : "DELETED";
}
