import type { Database } from "../../database/database.ts";
import { type FairQueue, createFairQueue } from "../fair-queue.ts";
import { type WriteGroups, createWriteGroups } from "./write-groups.ts";

/** The writes of an org wait for its lock, so more at once than these would only keep connections from others. */
const writesOfOrg = 3;

/** Returns how many writes of callers run at once. The other connections are for tokens, sign-ins and jobs. */
const capacityOf = (connections: number): number => Math.max(1, Math.floor(connections * 0.8));

/**
 * Creates where writes wait for a connection.
 *
 * @param connections the number of database connections for writes.
 */
export function createWriteQueues(
  database: Database,
  connections: number,
): { readonly writeQueue: FairQueue; readonly writeGroups: WriteGroups } {
  const writeQueue = createFairQueue({ capacity: capacityOf(connections), perTarget: writesOfOrg });
  return { writeQueue, writeGroups: createWriteGroups({ database, writeQueue }) };
}
