import type { Author } from "../changes/author.ts";
import type { Database } from "../database/database.ts";
import type { ResourceRegistry } from "../resource/registry.ts";

/** What becomes due: `invitations`, `memberships`, `roleBindings`, or the plural of a resource, `projects`. */
export type PurgeKind = string;

/** What one transaction did. */
export interface Removed {
  /** How many rows it took away or, of invitations, changed. */
  readonly rows: number;
  /** How many of what the task is about are done with; a large org takes many transactions before it is one. */
  readonly resources: number;
}

export const nothing: Removed = { rows: 0, resources: 0 };

/** Some of what is due, for one transaction. */
export interface PurgeUnit {
  /** The org or customer that it is in or is: what is left out when this fails. */
  readonly scope: string;
  /** Looks again at what is due, under its lock, and removes it; undefined when another server is at it. */
  readonly remove: () => Promise<Removed | undefined>;
}

/** How one kind of what becomes due is found and removed. */
export interface PurgeTask {
  readonly kind: PurgeKind;
  /** Some of what is due outside of the scopes to leave out, the longest due first; empty when there is nothing. */
  readonly find: (leftOut: readonly string[]) => Promise<PurgeUnit[]>;
}

/** What tasks are made with. */
export interface PurgeTaskDependencies {
  readonly database: Database;
  readonly registry: ResourceRegistry;
  /** The org whose change log keeps what happens to customers, and which orgs are gone. */
  readonly systemOrgId: string;
  /** How long an expired invitation can be brought back. */
  readonly retentionDays: number;
  /** The most rows that one transaction takes away. */
  readonly rowsPerStep: number;
}

/** How the change log names the job. */
export const purgeAuthor: Author = { actorId: null, actorOrgId: null, method: "tenantry/purge" };

/** How much is looked for at once: enough for several transactions, because looking for it costs more than reading it. */
export const searchSize = (rowsPerStep: number): number => rowsPerStep * 10;
