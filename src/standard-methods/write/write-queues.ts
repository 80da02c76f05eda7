import type { Database } from "../../database/database.ts";
import { type FairQueue, createFairQueue } from "../../scheduling/fair-queue.ts";
import { queues } from "../../scheduling/settings.ts";
import { type WriteGroups, createWriteGroups } from "./write-groups.ts";

/**
 * Creates where writes wait for a connection.
 *
 * @param connections the number of database connections for writes.
 */
export function createWriteQueues(
  database: Database,
  connections: number,
): { readonly writeQueue: FairQueue; readonly writeGroups: WriteGroups } {
  const capacity = Math.max(1, Math.floor(connections * queues.writesOfCallers));
  const writeQueue = createFairQueue({ capacity, perTarget: queues.writesOfOrg });
  return { writeQueue, writeGroups: createWriteGroups({ database, writeQueue }) };
}
