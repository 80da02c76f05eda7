import { sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { type ScopeColumns, scopeIdOf } from "../../access/scope-kinds.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { AtItem } from "../../standard-methods/batch/batch-item.ts";
import { type RoleBindingRow } from "./store.ts";

/**
 * How many conditional bindings of one member or group on one scope are in force. A decision may have to evaluate all of them,
 * and those of the subject's groups and of the scopes above.
 */
const maxConditions = 100;

/** What a binding says about its subject and scope. */
type Bound = ScopeColumns & Pick<RoleBindingRow, "member_id" | "group_id" | "condition">;

/** A binding to write, with the path of its subject. */
export interface NewBound {
  readonly columns: Bound;
  readonly subjectPath: string;
}

/**
 * Checks that subjects have room for more conditional bindings on their scopes, in order. The lock of the org keeps others from
 * adding one.
 *
 * @throws ServiceError LIMIT_EXCEEDED at the first for which there is no room.
 */
export async function requireFewConditions(
  transaction: OrgTransaction,
  bounds: readonly NewBound[],
  atItem: AtItem,
): Promise<void> {
  const conditional = bounds.filter(({ columns }) => columns.condition !== "");
  if (conditional.length === 0) return;
  const counts = await countConditions(transaction, conditional);
  for (const [index, { columns, subjectPath }] of bounds.entries()) {
    if (columns.condition === "") continue;
    const cell = cellOf(columns, scopeIdOf(columns));
    const count = counts.get(cell) ?? 0;
    if (count >= maxConditions) await atItem(index, () => Promise.reject(tooMany(subjectPath)));
    counts.set(cell, count + 1);
  }
}

interface CountRow extends Pick<Bound, "scope_type" | "member_id" | "group_id"> {
  readonly scope_id: string | null;
  readonly count: number;
}

/** Counts the conditional bindings in force of the subjects on the scopes, by cell. */
async function countConditions({ db, org }: OrgTransaction, bounds: readonly NewBound[]): Promise<Map<string, number>> {
  const distinct = <Value>(values: readonly (Value | null)[]): Value[] => [
    ...new Set(values.filter((value) => value !== null)),
  ];
  const types = distinct(bounds.map(({ columns }) => columns.scope_type));
  const scopes = distinct(bounds.map(({ columns }) => scopeIdOf(columns)));
  // Two selects, each with its index.
  const ofSubjects = (column: "member_id" | "group_id") => sql`
    select scope_type, scope_id, member_id, group_id, count(*)::int as count from role_bindings
    where org_id = ${org.id} and condition <> '' and (expire_time is null or expire_time > ${org.lockTime}) and scope_type = any(${types}::text[])
      and (scope_id is null or scope_id = any(${scopes}::uuid[]))
      and ${sql.ref(column)} = any(${distinct(bounds.map(({ columns }) => columns[column]))}::uuid[])
    group by scope_type, scope_id, member_id, group_id`;
  const { rows } = await sql<CountRow>`${ofSubjects("member_id")} union all ${ofSubjects("group_id")}`.execute(db);
  return new Map(rows.map((row) => [cellOf(row, row.scope_id), row.count]));
}

/** Returns a key of a subject on a scope. */
function cellOf(bound: Pick<CountRow, "scope_type" | "member_id" | "group_id">, scopeId: string | null): string {
  return [bound.scope_type, scopeId, bound.member_id, bound.group_id].join(" ");
}

function tooMany(subjectPath: string): ServiceError {
  const description = `${subjectPath} has reached its limit of ${maxConditions} role bindings with a condition on one resource; combine their conditions, or put what differs in labels`;
  return new ServiceError("LIMIT_EXCEEDED", description, {
    metadata: { resource: subjectPath, limit: String(maxConditions) },
    quotas: [{ subject: subjectPath, description }],
  });
}
