import type { Database } from "../../database/database.ts";
import type { Installation } from "../../identity/installation.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import type { SelectPurgeable } from "./find-purgeable.ts";

/** What is purged: `invitations`, `memberships`, `roleBindings`, `expiredApiKeys`, `sessions`, or the plural of a resource, such as `projects`. */
export type PurgeKind = string;

/** The result of one transaction. */
export interface Removed {
  /** How many rows it removed or, for invitations, changed. */
  readonly rows: number;
  /** How many resources it completed. A large org takes many transactions before it counts as one. */
  readonly resources: number;
}

export const nothing: Removed = { rows: 0, resources: 0 };

export interface PurgeUnit {
  /**
   * The org or customer that the rows belong to. When the transaction fails or another server holds the lock, the rest of the
   * run leaves it out.
   */
  readonly scope: string;
  /** Checks the rows again, under their lock, and removes them; undefined if another server holds the lock. */
  readonly remove: () => Promise<Removed | undefined>;
}

/** Finds and removes one kind of rows. */
export interface PurgeTask {
  readonly kind: PurgeKind;
  /** What `find` selects from. The job asks them when there is something to find. */
  readonly selects: readonly SelectPurgeable<object>[];
  /**
   * Returns some units outside of the scopes to leave out, the longest overdue first; empty if there are none.
   *
   * @param now by the database's clock, when it was found that there are some.
   */
  readonly find: (leftOut: readonly string[], now: string) => Promise<PurgeUnit[]>;
}

export interface PurgeTaskDependencies {
  readonly database: Database;
  readonly registry: ResourceRegistry;
  readonly installation: Pick<Installation, "systemOrgId">;
  /** How long a member with an expired invitation can be undeleted, in days. */
  readonly retentionDays: number;
  /** The maximum number of rows that one transaction removes. */
  readonly rowsPerStep: number;
}

/** Returns how many rows to search for at once: enough for several transactions, because a search costs more than reading them. */
export const searchSize = (rowsPerStep: number): number => rowsPerStep * 10;
