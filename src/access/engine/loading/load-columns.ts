// Loads the largest tables, as load-rows.ts does, by columns: a loop over one column accesses memory in places that do not
// depend on each other, so that the processor waits for many of them at once.
import type { EntityColumns } from "../tables/entity-table.ts";
import type { Labels } from "../tables/label-table.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import { type Time, readTime } from "./rows.ts";
import { type PackedIds, formatUuidAt } from "../tables/uuid.ts";

export interface ProjectColumns extends EntityColumns {
  readonly labels: readonly Labels[];
}

export interface MemberColumns extends EntityColumns {
  readonly tokenGens: readonly (string | null)[];
}

export interface MembershipColumns {
  readonly groupIds: PackedIds;
  readonly memberIds: PackedIds;
  readonly expireTimes: readonly Time[];
}

export function loadMembers({ members, tokens }: OrgSnapshot, columns: MemberColumns): void {
  members.putAll(columns);
  columns.tokenGens.forEach((gen, row) => {
    if (gen !== null || tokens.hasGens()) tokens.putGen(formatUuidAt(columns.ids, row), gen);
  });
}

export function loadGroups({ groups, closure }: OrgSnapshot, columns: EntityColumns): void {
  groups.putAll(columns);
  closure.forget();
}

export function loadProjects({ projects, labels }: OrgSnapshot, columns: ProjectColumns): void {
  projects.putAll(columns);
  columns.labels.forEach((given, row) => labels.put(formatUuidAt(columns.ids, row), given));
}

/** Adds memberships to a snapshot. Their members and groups must be loaded before. */
export function loadMemberships(snapshot: OrgSnapshot, { groupIds, memberIds, expireTimes }: MembershipColumns): void {
  const { members, groups, memberships } = snapshot;
  const ofMembers = new Int32Array(expireTimes.length);
  const ofGroups = new Int32Array(expireTimes.length);
  members.findAll(memberIds, ofMembers);
  groups.findAll(groupIds, ofGroups);
  for (let row = 0; row < expireTimes.length; row++) {
    const [member, group] = [ofMembers[row] as number, ofGroups[row] as number];
    if (member !== 0 && group !== 0) memberships.put(member, group, readTime(expireTimes[row] as Time, Infinity));
  }
}
