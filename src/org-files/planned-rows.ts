// The rows and entries of the log that the changes of a plan would leave, for decisions on the org as it would be. What a plan creates gets
// ids that are made up.
import { type Message, isMessage } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { v7 as uuidv7 } from "uuid";
import { GroupMemberSchema, SubgroupSchema } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { OrgSchema } from "../../gen/iam/v1alpha/org_pb.ts";
import { ProjectSchema } from "../../gen/iam/v1alpha/project_pb.ts";
import { RoleBindingSchema } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { RoleSchema } from "../../gen/iam/v1alpha/role_pb.ts";
import type { LogEntry } from "../access/engine/loading/apply-entry.ts";
import type { GroupRow, MemberRow, ProjectRow, RoleBindingRow, RoleRow } from "../access/engine/loading/rows.ts";
import type { PlannedChanges, PlannedStep } from "../access/previews/planned-changes.ts";
import { type EntryType, parentPathOf, pathBelowOrg } from "./file-resources.ts";
import type { Plan } from "./plan-changes.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { OrgState } from "./read-state.ts";

/** The changes of a plan, and the ids of what is in the org before and after them, by their paths below it. */
export interface PlannedRows {
  readonly changes: PlannedChanges;
  readonly idOf: (path: string) => string;
}

interface Sides {
  readonly path: string;
  readonly before: Message | undefined;
  readonly after: Message | undefined;
}

export function toPlannedRows(state: OrgState, plan: Plan): PlannedRows {
  const ids = new Map<string, string>([["", state.id], ...state.resources.map(({ path, id }) => [path, id] as const)]);
  const before = new Map<string, Message>([
    ["", state.org],
    ...state.resources.map(({ path, message }) => [path, message] as const),
  ]);
  const idOf = (path: string): string => {
    const id = ids.get(path) ?? uuidv7();
    ids.set(path, id);
    return id;
  };
  const implied = Map.groupBy(plan.implied, (each) => each.withPath);
  const created = {
    members: Array<MemberRow>(),
    groups: Array<GroupRow>(),
    roles: Array<RoleRow>(),
    projects: Array<ProjectRow>(),
  };
  const steps = plan.changes.map(({ type, path, message }): PlannedStep => {
    const sides = { path, before: before.get(path), after: message };
    const named = { id: idOf(path), name: path.slice(path.lastIndexOf("/") + 1) };
    if (sides.before === undefined) {
      if (type === "member") created.members.push({ ...named, state: "ACTIVE" });
      else if (type === "group") created.groups.push(named);
      else if (type === "role") created.roles.push({ ...named, permissions: permissionsOf(message) });
      else if (type === "project") created.projects.push({ ...named, state: "ACTIVE", labels: labelsOf(message) });
      else return { entries: entriesOf(type, sides, idOf) };
      return { entries: [] };
    }
    const gone = (implied.get(path) ?? []).flatMap(({ resource }) =>
      entriesOf(resource.type, { path: resource.path, before: resource.message, after: undefined }, idOf),
    );
    return { entries: [...gone, ...entriesOf(type, sides, idOf)], ...labelsBetween(sides, idOf) };
  });
  return { changes: { orgId: state.id, revision: state.revision, created, steps }, idOf };
}

/** Returns the entries of a change that is not the creation of a member, group, role or project. */
function entriesOf(type: PlannedChange["type"] | EntryType, sides: Sides, idOf: PlannedRows["idOf"]): LogEntry[] {
  const { path, before, after } = sides;
  const entry = (resourceType: string, toRow: (message: Message) => object): LogEntry => ({
    resource_type: resourceType,
    resource_id: idOf(path),
    before: before === undefined ? null : toRow(before),
    after: after === undefined ? null : toRow(after),
  });
  const named = { id: idOf(path), name: path.slice(path.lastIndexOf("/") + 1) };
  switch (type) {
    case "role":
      return [entry("Role", (message) => ({ ...named, permissions: permissionsOf(message) }))];
    case "group":
      return after === undefined ? [entry("Group", () => named)] : [];
    case "subgroup":
    case "membership":
      return [entry(type === "subgroup" ? "Subgroup" : "GroupMember", (message) => edgeOf(path, message, idOf))];
    case "role binding":
      return [entry("RoleBinding", (message) => bindingOf(path, message, idOf))];
    // What goes with the others is in entries of its own. Roles on a customer or on the platform, and what is inherited in a project that goes,
    // are not looked at. Clients, webhooks, limits and providers of identities give nobody access.
    case "identity provider":
    case "client":
    case "webhook":
    case "limit":
    case "quota":
    case "org":
    case "member":
    case "project":
      return [];
  }
}

function edgeOf(path: string, message: Message, idOf: PlannedRows["idOf"]): object {
  const groupId = idOf(parentPathOf(path));
  if (isMessage(message, SubgroupSchema))
    return { group_id: groupId, subgroup_id: idOf(pathBelowOrg(message.groupPath)) };
  if (!isMessage(message, GroupMemberSchema)) throw new Error(`${path} is neither a membership nor a subgroup`);
  const memberId = idOf(pathBelowOrg(message.memberPath));
  return { group_id: groupId, member_id: memberId, expire_time: timeOf(message.expireTime) };
}

function bindingOf(path: string, message: Message, idOf: PlannedRows["idOf"]): RoleBindingRow {
  if (!isMessage(message, RoleBindingSchema)) throw new Error(`${path} is not a role binding`);
  const { subjectPath, rolePath, startTime, expireTime, condition } = message;
  const [scope, subject] = [parentPathOf(path), pathBelowOrg(subjectPath)];
  const predefined = /^\/roles\/(.+)$/.exec(rolePath)?.[1];
  return {
    id: idOf(path),
    scope_type: scope === "" ? "org" : "project",
    scope_id: idOf(scope),
    subject_type: subject.startsWith("groups/") ? "group" : "member",
    subject_id: idOf(subject),
    role_id: predefined === undefined ? idOf(pathBelowOrg(rolePath)) : null,
    predefined_role: predefined ?? null,
    start_time: timeOf(startTime),
    expire_time: timeOf(expireTime),
    condition,
  };
}

const timeOf = (time: Timestamp | undefined): number | null => (time === undefined ? null : timestampMs(time));

function permissionsOf(message: Message | undefined): readonly string[] {
  return message !== undefined && isMessage(message, RoleSchema) ? message.permissions : [];
}

function labelsOf(message: Message | undefined): Readonly<Record<string, string>> {
  const hasLabels = message !== undefined && (isMessage(message, ProjectSchema) || isMessage(message, OrgSchema));
  return hasLabels ? message.labels : {};
}

function labelsBetween({ path, before, after }: Sides, idOf: PlannedRows["idOf"]): Pick<PlannedStep, "labels"> {
  const isLabelled = after !== undefined && (isMessage(after, ProjectSchema) || isMessage(after, OrgSchema));
  return isLabelled ? { labels: { id: idOf(path), before: labelsOf(before), after: labelsOf(after) } } : {};
}
