import { type RawBuilder, sql } from "kysely";

/** What the path of a resource needs, of each that a row refers to; null for a reference that is removed. */
export type ReferencedNames = Readonly<
  Record<
    string,
    {
      readonly name: string;
      readonly project_id: string;
      readonly project_name: string;
      readonly project_is_deleted: boolean;
    } | null
  >
>;

/**
 * Returns an expression with the names of what a row refers to. What no longer exists is left out.
 *
 * @param table `resources` or `operations`.
 */
export function referencedNames(table: "resources" | "operations"): RawBuilder<ReferencedNames> {
  const [ids, orgId] = [sql.ref(`${table}.reference_ids`), sql.ref(`${table}.org_id`)];
  return sql`case when ${ids} = '{}' then '{}'::jsonb else (
    select coalesce(jsonb_object_agg(reference.key, case when reference.value is not null then jsonb_build_object(
      'name', target.name, 'project_id', parent.id, 'project_name', parent.name,
      'project_is_deleted', parent.delete_time is not null) end), '{}')
    from jsonb_each_text(${ids}) as reference
    left join resources as target on target.org_id = ${orgId} and target.id = reference.value::uuid
    left join projects as parent on parent.org_id = target.org_id and parent.id = target.project_id
    where reference.value is null or target.id is not null
  ) end`;
}
