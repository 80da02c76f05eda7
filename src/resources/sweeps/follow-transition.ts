import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Transition } from "../../standard-methods/definition/lifecycle.ts";
import { type Container, requireNoResources } from "../resources/require-no-resources.ts";
import { queueSweep } from "../queue-sweep.ts";

/**
 * Lets the resources in an org or project follow a transition of it. Called before the transition, under the lock of the org.
 *
 * @param force whether to delete an org or project with resources in it.
 * @throws ServiceError RESOURCE_IN_USE, without `force`.
 */
export async function followTransition(
  transaction: OrgTransaction,
  authorHolds: AuthorHolds,
  container: Container,
  transition: Transition,
  force: boolean,
): Promise<void> {
  if (transition === "delete" && !force) return requireNoResources(transaction, authorHolds, container);
  await queueSweep(transaction.db, container.orgId, container.projectId ?? container.orgId);
}
