import type { Transaction } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { inUse } from "../require-unused.ts";
import { resourcePath } from "./message.ts";
import { findResourceIn } from "./store.ts";

/** An org, or a project in it, that is being deleted. */
interface Container {
  readonly orgId: string;
  readonly projectId?: string;
  /** `the project` */
  readonly what: string;
  readonly path: string;
}

/**
 * Checks that an org or project has no resources, before it is deleted: their provider would go on running them.
 *
 * @throws ServiceError RESOURCE_IN_USE that names one.
 */
export async function requireNoResources(
  db: Transaction<Schema>,
  { orgId, projectId, what, path }: Container,
): Promise<void> {
  const resource = await findResourceIn(db, orgId, projectId);
  if (resource !== undefined) throw inUse(what, path, resourcePath(resource));
}
