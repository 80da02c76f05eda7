// What a rollback does to access, as rows: what counts before it, and what counts after it. A member or project that is deleted or not active
// has no access now, so all that refers to it is gained with it, and lost the other way.
import type { LogEntry } from "../../access/engine/loading/apply-entry.ts";
import type { PlannedChanges } from "../../access/previews/planned-changes.ts";
import { toLogEntry } from "../../access/snapshots/to-log-entry.ts";
import { type Steps, createStepCounter } from "../../scheduling/steps.ts";
import type { FileType } from "../file-resources.ts";
import { referencesOf } from "../references.ts";
import { isDeleted, stateOf } from "./find-wanted.ts";
import type { RollbackPlan } from "./plan-rollback.ts";
import type { Side, SideResource, Sides } from "./read-sides.ts";

/** What decisions are made of, as entries of the log name it. */
const entryTypes: Partial<Readonly<Record<FileType, string>>> = {
  role: "Role",
  group: "Group",
  subgroup: "Subgroup",
  membership: "GroupMember",
  "role binding": "RoleBinding",
};

const isReference = ({ type }: SideResource): boolean =>
  type === "subgroup" || type === "membership" || type === "role binding";

export function* toRollbackRows(
  sides: Sides,
  { standing, after }: Pick<RollbackPlan, "standing" | "after">,
): Steps<PlannedChanges> {
  const isStepOver = createStepCounter();
  const restored = [...standing.values()].filter((each) => !isOpen(each) && isOpenAt(after, each.path));
  const restoredPaths = new Set(restored.map(({ path }) => path));
  const base: LogEntry[] = [];
  const entries: LogEntry[] = [];
  /** After what refers to them. */
  const ofReferred: LogEntry[] = [];
  for (const path of new Set([...standing.keys(), ...after.keys()])) {
    if (isStepOver()) yield;
    const [before, next] = [standing.get(path), after.get(path)];
    const any = before ?? next;
    const type = any && entryTypes[any.type];
    if (any === undefined || type === undefined) continue;
    const isOfRestored = referencesOf(any).some((reference) => restoredPaths.has(reference.path));
    if (before !== undefined && isOfRestored) base.push(entryOf(type, before, before, undefined));
    const [from, to] = [countedIn(standing, before), countedIn(after, next)];
    if (from === undefined && (to === undefined || !isReference(to))) continue;
    if (from !== undefined && to !== undefined && isSame(from, to)) continue;
    (isReference(any) ? entries : ofReferred).push(entryOf(type, any, from, to));
  }
  // They have the columns of their tables, as the log keeps them.
  const created: Readonly<Record<keyof PlannedChanges["created"], readonly SideResource["row"][]>> = {
    groups: rowsOf(sides, after, standing, "group"),
    roles: rowsOf(sides, after, standing, "role"),
    members: restored.flatMap(({ type, path }) => (type === "member" ? [openRow(after, path)] : [])),
    projects: restored.flatMap(({ type, path }) => (type === "project" ? [openRow(after, path)] : [])),
  };
  return {
    orgId: sides.id,
    revision: sides.revision,
    base,
    created: created as unknown as PlannedChanges["created"],
    steps: [{ entries: [...entries, ...ofReferred] }],
  };
}

/** Whether something counts, and what refers to it. What a suspended project has counts for those who may activate it. */
const isOpen = (resource: SideResource): boolean =>
  !isDeleted(resource) && (resource.type !== "member" || stateOf(resource) === "ACTIVE");

function isOpenAt(side: Side, path: string): boolean {
  const found = side.get(path);
  return found !== undefined && isOpen(found);
}

function countedIn(side: Side, resource: SideResource | undefined): SideResource | undefined {
  if (resource === undefined || !isReference(resource)) return resource;
  return referencesOf(resource).every(({ path }) => isOpenAt(side, path)) ? resource : undefined;
}

const isSame = (one: SideResource, other: SideResource): boolean =>
  comparedColumns.every((column) => JSON.stringify(one.row[column]) === JSON.stringify(other.row[column])) &&
  timeColumns.every((column) => timeOf(one.row[column]) === timeOf(other.row[column]));

const comparedColumns = ["permissions", "condition"];
const timeColumns = ["start_time", "expire_time"];
const timeOf = (value: unknown): number => (typeof value === "string" ? Date.parse(value) : 0);

function entryOf(
  resource_type: string,
  { id }: SideResource,
  before: SideResource | undefined,
  after: SideResource | undefined,
): LogEntry {
  return toLogEntry({ resource_type, resource_id: id, before: before?.row ?? null, after: after?.row ?? null });
}

function rowsOf({ past }: Sides, after: Side, standing: Side, type: FileType): readonly SideResource["row"][] {
  return [...after.values()].flatMap((each) =>
    each.type === type && !standing.has(each.path) && past.has(each.path) ? [each.row] : [],
  );
}

function openRow(after: Side, path: string): SideResource["row"] {
  const { id, name, row } = after.get(path) as SideResource;
  return { id, name, state: "ACTIVE", labels: row["labels"] ?? {} };
}
