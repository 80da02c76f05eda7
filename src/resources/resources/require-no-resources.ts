import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { mayReadRow } from "../may-read.ts";
import { resourcePath } from "./message.ts";
import { findResourceIn } from "./store.ts";

/** An org, or a project in it. */
interface Container {
  readonly orgId: string;
  readonly projectId: string | undefined;
  /** `the project` */
  readonly what: string;
  readonly path: string;
}

/**
 * Checks that an org or project has no resources, before it is deleted: their provider would go on running them.
 *
 * @throws ServiceError RESOURCE_IN_USE that names one, if the author of the request may read it.
 */
export async function requireNoResources(
  transaction: OrgTransaction,
  authorHolds: AuthorHolds,
  { orgId, projectId, what, path }: Container,
): Promise<void> {
  const resource = await findResourceIn(transaction.db, orgId, projectId);
  if (resource === undefined) return;
  if (!(await mayReadRow(await authorHolds.now(transaction), resource))) {
    const message = `${what} ${path} has resources that the caller may not read: ask somebody who may to delete them first, or set force to have them deleted`;
    throw new ServiceError("RESOURCE_IN_USE", message, { metadata: { resource: path } });
  }
  const usedBy = resourcePath(resource);
  const remedy = resource.delete_time === null ? "delete" : "purge";
  const message = `${what} ${path} has resources, such as ${usedBy}: ${remedy} them first, or set force to have them deleted`;
  throw new ServiceError("RESOURCE_IN_USE", message, { metadata: { resource: path, used_by: usedBy } });
}
