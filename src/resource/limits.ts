import type { Kysely } from "kysely";
import type { Schema } from "../database/schema.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { ResourceType } from "../paths/patterns.ts";

/** How many of a resource there may be in one parent. */
export type Limits = Readonly<Partial<Record<ResourceType, number>>>;

/** What to count: the resources of a type below one parent, which may be the org itself. */
export interface Counted {
  readonly type: ResourceType;
  readonly orgId: string;
  readonly parentId: string;
}

/** How many there are, deleted ones aside; kept by the database in the transactions that change it. */
export async function countResources(db: Kysely<Schema>, { type, orgId, parentId }: Counted): Promise<number> {
  const row = await db
    .selectFrom("resource_counts")
    .select("count")
    .where("org_id", "=", orgId)
    .where("parent_id", "=", parentId)
    .where("resource_type", "=", type)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

export function limitExceeded(label: string, parentPath: string, limit: number): ServiceError {
  const description = `${parentPath} holds as many ${label}s as it may, ${limit}`;
  return new ServiceError("LIMIT_EXCEEDED", description, {
    metadata: { resource: parentPath, limit: String(limit) },
    quotas: [{ subject: parentPath, description }],
  });
}
