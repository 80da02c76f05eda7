import type { OrgSnapshot } from "../org-snapshot.ts";
import type { TokenEnd } from "../tables/token-table.ts";
import { moveReference, putGroup, putMember, putProject, putRole } from "./put-rows.ts";
import {
  type ExpiringRow,
  type GroupRow,
  type MemberRow,
  type OrgRow,
  type ProjectRow,
  type RoleRow,
  type Time,
  readTime,
} from "./rows.ts";

/** An entry of the org's change log, as far as snapshots need it. */
export interface LogEntry {
  readonly time?: Time;
  readonly resource_type: string;
  readonly resource_id: string;
  /** The row in JSON; null if the change created it. */
  readonly before: object | null;
  /** The row in JSON; null if the change removed it, and everything below it. */
  readonly after: object | null;
}

/**
 * The types of resources whose entries are applied, and what of them is read besides the row after: labels, or the row before. What is not read
 * can be large, so a statement that reads the log for a snapshot leaves it out, with the names to display and descriptions of all.
 */
export const appliedTypes = {
  Org: "labels",
  Member: "",
  Project: "labels",
  Group: "",
  Role: "",
  ApiKey: "before",
  Client: "before",
  Session: "before",
  Token: "before",
  RoleBinding: "",
  GroupMember: "before",
  Subgroup: "before",
} as const satisfies Readonly<Record<string, "" | "before" | "labels">>;

type AppliedType = keyof typeof appliedTypes;

const isApplied = (type: string): type is AppliedType => Object.hasOwn(appliedTypes, type);

/** How many references to purged resources are removed with each change. This takes well under a millisecond. */
const usualSweep = 1000;

/**
 * Applies one entry of the change log to the snapshot. Entries must be applied in order, each once. After the entries of a
 * revision the caller must call `advanceTo`. Ignores entries about resources that do not affect decisions.
 */
export function applyEntry(snapshot: OrgSnapshot, change: LogEntry, sweepLimit = usualSweep): void {
  snapshot.beginChange();
  applyLine(snapshot, change);
  snapshot.sweeper.sweep(sweepLimit);
}

function applyLine(snapshot: OrgSnapshot, change: LogEntry): void {
  const { resource_type: type } = change;
  if (!isApplied(type)) return;
  switch (type) {
    case "Org":
      if (change.after !== null) snapshot.putOrg(change.after as OrgRow);
      return;
    case "Member":
      if (change.after !== null) putMember(snapshot, change.after as MemberRow);
      else {
        retire(snapshot, "member", snapshot.members.findById(change.resource_id));
        snapshot.tokens.putGen(change.resource_id, null);
      }
      return;
    case "Project":
      if (change.after !== null) putProject(snapshot, change.after as ProjectRow);
      else {
        retire(snapshot, "project", snapshot.projects.findById(change.resource_id));
        snapshot.labels.remove(change.resource_id);
      }
      return;
    case "Group":
      if (change.after !== null) putGroup(snapshot, change.after as GroupRow);
      else retire(snapshot, "group", snapshot.groups.findById(change.resource_id));
      return;
    case "Role":
      if (change.after !== null) putRole(snapshot, change.after as RoleRow);
      else retire(snapshot, "role", snapshot.roles.custom.findById(change.resource_id));
      return;
    case "ApiKey":
    case "Client":
    case "Session":
    case "Token":
      endTokensOf(snapshot, change, type);
      return;
    case "RoleBinding":
    case "GroupMember":
    case "Subgroup":
      moveReference(snapshot, type, change.resource_id, change.before, change.after);
  }
}

/** Ends the tokens of an API key, client or session that was removed, or that has got an earlier end. */
function endTokensOf(
  { tokens }: OrgSnapshot,
  { resource_id: id, before, after, time = null }: LogEntry,
  type: TokenEnd,
): void {
  if (after === null) {
    tokens.end(id, type, readTime(time, 0));
    return;
  }
  const end = expiryOf(after);
  if (before !== null && end !== expiryOf(before)) tokens.end(id, "Rotation", end);
}

const expiryOf = ({ expire_time: time = null }: ExpiringRow): number => readTime(time, Infinity);

function retire(snapshot: OrgSnapshot, kind: "member" | "group" | "project" | "role", record: number): void {
  if (record === 0) return;
  if (kind === "role") {
    snapshot.roles.retireCustom(record);
  } else {
    const tables = { member: snapshot.members, group: snapshot.groups, project: snapshot.projects };
    tables[kind].retire(record);
  }
  if (kind === "group") snapshot.closure.forget();
  snapshot.sweeper.add(kind, record);
}
