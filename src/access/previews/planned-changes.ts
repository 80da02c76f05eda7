import type { LogEntry } from "../engine/loading/apply-entry.ts";
import type { OrgRows } from "../engine/loading/load-rows.ts";
import type { Labels } from "../engine/tables/label-table.ts";

/** A planned change, as the entries that it would append to the log. */
export interface PlannedStep {
  /** None of them creates a member, group, role or project: these are in `created`. */
  readonly entries: readonly LogEntry[];
  /** The labels of the org or a project that change, which conditions see. */
  readonly labels?: { readonly id: string; readonly before: Labels; readonly after: Labels };
}

export interface PlannedChanges {
  readonly orgId: string;
  /** The revision that they follow. */
  readonly revision: string;
  /** Entries that are applied first. What they take away is neither there before the changes nor lost by them. */
  readonly base?: readonly LogEntry[];
  /** What the changes create. It is there before and after them, so what is inherited in a new project is no gain. */
  readonly created: Pick<OrgRows, "members" | "groups" | "roles" | "projects">;
  /** In the order in which they would be made. */
  readonly steps: readonly PlannedStep[];
}
