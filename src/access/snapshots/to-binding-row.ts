import type { RoleBindingRow, Time } from "../engine/loading/rows.ts";
import { type ScopeColumns, scopeIdOf, scopeKindOf } from "../scope-kinds.ts";

/** The columns of a role binding that affect decisions, as in the table and the change log. */
export interface BindingColumns extends ScopeColumns {
  readonly id: string;
  readonly member_id: string | null;
  readonly group_id: string | null;
  readonly predefined_role: string | null;
  readonly role_id: string | null;
  readonly start_time: Time;
  readonly expire_time: Time;
  readonly condition: string;
}

export function toBindingRow(row: BindingColumns): RoleBindingRow {
  const { id, predefined_role, role_id, start_time, expire_time, condition } = row;
  return {
    id,
    scope_type: scopeKindOf(row.scope_type),
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
