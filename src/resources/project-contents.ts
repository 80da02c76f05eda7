// The types and resources in projects, for access checks, which know neither.
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database/database.ts";
import type { ContainedResource, ProjectContents } from "../iam/access-checks/dependencies.ts";

/** The verbs of the permissions on each type, besides those of its operations. */
const verbsOfAll = ["get", "list", "update", "use"];

export function createProjectContents({ reads }: Pick<Database, "reads">): ProjectContents {
  return {
    async verbsOf(type) {
      const { rows } = await sql<{ verbs: readonly string[] }>`
        select array(
          select operation ->> 'verb' from jsonb_array_elements(resource_types.operations) as operation
        ) as verbs from ${typeCalled(type)}`.execute(reads);
      const [found] = rows;
      return found && [...new Set([...verbsOfAll, ...found.verbs])];
    },

    async read({ orgId, type, after }, limit) {
      const conditions = [sql`org_id = ${orgId}`, ...(after === undefined ? [] : [sql`id > ${after}`])];
      const isOfType =
        type === undefined ? sql`true` : sql`type_id in (select resource_types.id from ${typeCalled(type)})`;
      const { rows } = await sql<ContainedResource>`
        select id, project_id as "projectId", name, (delete_time is null and ${isOfType}) as "isWanted"
        from resources where ${sql.join(conditions, sql` and `)} order by id limit ${limit}`.execute(reads);
      return rows;
    },
  };
}

/** Returns the table of the type whose permissions begin so: `compute.instances`. */
function typeCalled(type: string): RawBuilder<unknown> {
  const [service = "", collection = ""] = type.split(".");
  return sql`resource_types join services on services.id = resource_types.service_id
    and services.name = ${service} and resource_types.collection = ${collection}`;
}
