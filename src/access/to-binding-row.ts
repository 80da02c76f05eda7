import type { RoleBindingRow, Time } from "./engine/rows.ts";

/** What decides of a role binding, as the table and the change log hold it. */
export interface BindingColumns {
  readonly id: string;
  readonly org_id: string;
  readonly scope_type: "PLATFORM" | "CUSTOMER" | "ORG" | "PROJECT";
  readonly customer_id: string | null;
  readonly project_id: string | null;
  readonly member_id: string | null;
  readonly group_id: string | null;
  readonly predefined_role: string | null;
  readonly role_id: string | null;
  readonly start_time: Time;
  readonly expire_time: Time;
  readonly condition: string;
}

const scopeTypes = { PLATFORM: "platform", CUSTOMER: "customer", ORG: "org", PROJECT: "project" } as const;

/** A role binding as the engine takes it. */
export function toBindingRow(row: BindingColumns): RoleBindingRow {
  const { id, predefined_role, role_id, start_time, expire_time, condition } = row;
  return {
    id,
    scope_type: scopeTypes[row.scope_type],
    scope_id: scopeIdOf(row),
    subject_type: row.member_id === null ? "group" : "member",
    subject_id: row.member_id ?? row.group_id ?? "",
    role_id,
    predefined_role,
    start_time,
    expire_time,
    condition,
  };
}

function scopeIdOf(row: BindingColumns): string | null {
  switch (row.scope_type) {
    case "PLATFORM":
      return null;
    case "CUSTOMER":
      return row.customer_id;
    case "ORG":
      return row.org_id;
    case "PROJECT":
      return row.project_id;
  }
}
