import { type Kysely, sql } from "kysely";

/** The org or parent of resources that have none. */
const nowhere = "00000000-0000-0000-0000-000000000000";

/**
 * Adds the direct parent to the key of labels, which had only the org, so that a list of a project with few resources in an org
 * with many reads only those few.
 *
 * Since 0007 the servers write labels, and servers from before it cannot write; servers of this version know the column.
 */
export async function addLabelParents(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `lock table resource_labels in access exclusive mode`,
    `drop index resource_labels_key`,
    `alter table resource_labels drop constraint resource_labels_pkey, add column parent_id uuid`,
    // In an org, all resources but role bindings were directly in the org.
    `update resource_labels set parent_id = org_id`,
    `update resource_labels set parent_id = coalesce(role_bindings.scope_id, '${nowhere}') from role_bindings
      where resource_type = 'RoleBinding' and role_bindings.org_id = resource_labels.org_id
        and role_bindings.id = resource_id`,
    `alter table resource_labels add primary key (org_id, resource_type, key, value, parent_id, resource_id)`,
    `create index resource_labels_key on resource_labels (org_id, resource_type, key, parent_id, resource_id)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
