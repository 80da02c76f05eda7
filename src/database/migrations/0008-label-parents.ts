import { type Kysely, sql } from "kysely";

/** Stands for the org or parent of what is in none. */
const nowhere = "00000000-0000-0000-0000-000000000000";

/**
 * Labels are found by what a resource is directly in, no longer by its org alone: of a project with few of something in an org
 * with many, a list by labels reads the few.
 *
 * Servers write labels since 0007, which none from before it goes on beside; those of this version know the column.
 */
export async function addLabelParents(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `lock table resource_labels in access exclusive mode`,
    `drop index resource_labels_key`,
    `alter table resource_labels drop constraint resource_labels_pkey, add column parent_id uuid`,
    // What is in an org was directly in it, but for role bindings.
    `update resource_labels set parent_id = org_id`,
    `update resource_labels set parent_id = coalesce(role_bindings.scope_id, '${nowhere}') from role_bindings
      where resource_type = 'RoleBinding' and role_bindings.org_id = resource_labels.org_id
        and role_bindings.id = resource_id`,
    `alter table resource_labels add primary key (org_id, resource_type, key, value, parent_id, resource_id)`,
    `create index resource_labels_key on resource_labels (org_id, resource_type, key, parent_id, resource_id)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
