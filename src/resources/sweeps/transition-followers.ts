import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Follower, FollowedTransition } from "../../standard-methods/definition/registry.ts";
import { requireNoResources } from "../resources/require-no-resources.ts";
import { queueSweep } from "../queue-sweep.ts";

/** Lets the resources in an org or project follow its transitions. */
export const transitionFollowers: readonly Follower[] = [
  { of: "Org", follow: (transaction, followed) => follow(transaction, followed, undefined) },
  { of: "Project", follow: (transaction, followed) => follow(transaction, followed, followed.id) },
];

/** @throws ServiceError RESOURCE_IN_USE when something with resources in it is deleted without `force`. */
async function follow(
  transaction: OrgTransaction,
  { id, what, path, transition, force, authorHolds }: FollowedTransition,
  projectId: string | undefined,
): Promise<void> {
  const { org } = transaction;
  if (transition === "delete" && !force) {
    return requireNoResources(transaction, authorHolds, { orgId: org.id, projectId, what, path });
  }
  await queueSweep(transaction, id);
}
