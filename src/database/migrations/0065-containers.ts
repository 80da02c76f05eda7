import type { Fill } from "../migration/migration.ts";

const logged = (column: string): string => `(coalesce(after, before) ->> '${column}')::uuid`;

/**
 * Sets what contains the resource of entries from before it was kept, by the ids that they have of its parents. Which these are is as it was
 * then: the definitions of resources may change. They are in no chain, so no hash is of the column.
 * Entries that servers of earlier versions write after the fill stay without it.
 */
export const fillContainers: Fill = {
  table: "changes",
  key: ["org_id", "revision", "position", "time"],
  set: `container_id = case
    when resource_type in ('ApiKey', 'Identity', 'Session', 'Token') then ${logged("member_id")}
    when resource_type in ('GroupMember', 'Subgroup') then ${logged("group_id")}
    when resource_type in ('Operation', 'Resource') then ${logged("project_id")}
    when resource_type = 'ResourceType' then ${logged("service_id")}
    when resource_type = 'RoleBinding' then coalesce(${["project_id", "customer_id", "service_id"].map(logged).join(", ")}, resource_id)
    else resource_id end`,
  where: "container_id is null and format < 4",
};
