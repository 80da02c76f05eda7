// Plans what leads an org back: compares what there is with what there shall be, by ids.
import { type Message, clone, isMessage } from "@bufbuild/protobuf";
import { GroupMemberSchema, SubgroupSchema } from "../../../gen/iam/v1alpha/group_member_pb.ts";
import { OrgSchema } from "../../../gen/iam/v1alpha/org_pb.ts";
import { RoleBindingSchema } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { type Steps, createStepCounter } from "../../scheduling/steps.ts";
import { type ChangedValue, findChangedValues } from "../changed-values.ts";
import { type FileType, fileForms } from "../file-resources.ts";
import { findProtected } from "../find-protected.ts";
import { changedFields, maxChanges, maxUpdates, removedLast } from "../plan-changes.ts";
import type { PlannedChange } from "../planned-change.ts";
import { findImplying } from "../references.ts";
import { type Remark, type Wanted, findPresent } from "./find-wanted.ts";
import { planNames } from "./plan-names.ts";
import { planStates } from "./plan-states.ts";
import type { Side, SideResource, Sides } from "./read-sides.ts";
import type { Contents, Implied, RollbackState } from "./rollback-state.ts";

export interface RollbackPlan {
  /** In the order in which they can be made. */
  readonly changes: readonly PlannedChange[];
  /** What is there now, or will be when what refers to it is undeleted. */
  readonly standing: Side;
  /** What there is after the changes. */
  readonly after: Side;
  /** What goes with something that is deleted. */
  readonly implied: readonly Implied[];
  /** Why it cannot be done, in sentences. */
  readonly obstacles: readonly string[];
  /** What stays different from what was. */
  readonly leftOut: readonly string[];
}

export interface RollbackOptions {
  /** The id of the member that rolls back. */
  readonly authorId: string;
  readonly nowMs: number;
  /** That of the client of the command line, with which operators sign in. */
  readonly commandLineClientId: string;
  /** What cannot be removed, by path. */
  readonly inUse: ReadonlyMap<string, string>;
  readonly leavesOutImpossible: boolean;
}

/** @throws ServiceError LIMIT_EXCEEDED */
export function* planRollback(
  sides: Sides,
  { resources: wanted, impossible, ended }: Wanted,
  options: RollbackOptions,
): Steps<RollbackPlan> {
  const present = yield* findPresent(sides.now, options.nowMs);
  const standing = yield* findPresent(sides.now, options.nowMs, (path) => wanted.has(path));
  const isProtected = findProtected(
    { ...sides, org: sides.org.now, resources: [...present.values()] },
    options.authorId,
  );
  const { removed, kept } = yield* findRemoved(standing, wanted, isProtected, options);
  const after = new Map(wanted);
  for (const { path } of kept) {
    const stays = standing.get(path);
    if (stays !== undefined) after.set(path, stays);
  }
  const paths = pathsOf(sides, wanted, standing);
  const state: RollbackState = { sides, wanted, standing, removed, isProtected, nowMs: options.nowMs, ...paths };
  const contents = yield* planContents(state);
  const states = planStates(state, contents);
  const { names, taken } = yield* planNames(state);
  const changes = [...changeOfOrg(sides), ...inOrder(contents, states, names)];
  requireFew(changes, sides.name);
  const say = ({ path, text }: Remark): string => `${state.shown(path)} ${text}`;
  const inUse = kept.filter(({ isInUse }) => isInUse);
  const others = kept.filter(({ isInUse }) => !isInUse);
  const omitted = [...impossible, ...inUse].map(say);
  return {
    changes,
    standing,
    after,
    implied: contents.implied,
    obstacles: fewOf([...taken, ...(options.leavesOutImpossible ? [] : omitted)]),
    leftOut: fewOf([
      ...(options.leavesOutImpossible ? omitted : []),
      ...[...ended, ...others, ...states.remarks].map(say),
    ]),
  };
}

interface Kept extends Remark {
  readonly isInUse: boolean;
}

/** Finds what is removed, and what stays though it was not there. */
function* findRemoved(
  standing: Side,
  wanted: Side,
  isProtected: (resource: SideResource) => boolean,
  { inUse, commandLineClientId }: RollbackOptions,
): Steps<{ readonly removed: Side; readonly kept: readonly Kept[] }> {
  const isStepOver = createStepCounter();
  const removed = new Map<string, SideResource>();
  const kept: Kept[] = [];
  for (const [path, resource] of standing) {
    if (isStepOver()) yield;
    if (wanted.has(path)) continue;
    const use = inUse.get(path);
    if (isProtected(resource)) kept.push({ path, text: "stays: the caller and owners do", isInUse: false });
    else if (resource.id === commandLineClientId)
      kept.push({ path, text: "stays: operators sign in with it from the command line", isInUse: false });
    else if (use === undefined) removed.set(path, resource);
    else kept.push({ path, text: use, isInUse: true });
  }
  return { removed, kept };
}

function* planContents(state: RollbackState): Steps<Contents> {
  const { wanted, standing, removed, shown, called } = state;
  const isStepOver = createStepCounter();
  const creations: PlannedChange[] = [];
  const updates: PlannedChange[] = [];
  const deletions: PlannedChange[] = [];
  const implied: Implied[] = [];
  const changedProjects = new Set<string>();
  const changeIn = (path: string): void => {
    const [collection, project = ""] = path.split("/");
    if (collection === "projects" && path.includes("/roleBindings/")) changedProjects.add(project.slice(1));
  };
  for (const [path, resource] of wanted) {
    if (isStepOver()) yield;
    const { type } = resource;
    const present = standing.get(path);
    const message = calledMessage(resource.message, called);
    const base = { type, path: shown(path), callPath: called(path), message, sent: message, place: "" };
    const fields = present === undefined ? undefined : changedFields(type, present.message, resource.message);
    if (fields?.length === 0) continue;
    changeIn(path);
    if (fields === undefined) creations.push({ ...base, action: "create", fields: [] });
    const others = fields?.filter((field) => field !== "name") ?? fieldsAfterCreation(resource);
    if (others.length === 0) continue;
    const callPath = fields === undefined ? namedPath(base.callPath, resource) : base.callPath;
    const values = valuesOf(type, others, present?.message ?? filledMessage(resource), resource.message, shown);
    updates.push({ ...base, callPath, action: "update", fields: others, values });
  }
  for (const [path, resource] of removed) {
    if (isStepOver()) yield;
    const withPath = findImplying(resource, removed);
    if (withPath !== undefined) {
      implied.push({ path: shown(path), withPath: shown(withPath) });
      continue;
    }
    const { type } = resource;
    changeIn(path);
    const nothing = { message: undefined, sent: undefined, place: "", fields: [] };
    deletions.push({ action: "delete", type, path: shown(path), callPath: path, ...nothing });
  }
  return { creations, updates, deletions, implied, changedProjects };
}

/** Returns the path of what is created, which has another id. */
const namedPath = (path: string, { name }: SideResource): string => `${path.slice(0, path.lastIndexOf("/"))}/${name}`;

/** Returns the fields of what is created that a creation fills if they are empty. */
function fieldsAfterCreation({ name, message }: SideResource): readonly string[] {
  return name !== "" && "displayName" in message && message.displayName === "" ? ["display_name"] : [];
}

/** Returns the message that a creation makes of one with an empty display name. */
function filledMessage({ type, name, message }: SideResource): Message {
  return Object.assign(clone(fileForms[type].schema, message), { displayName: name });
}

/** Returns what fields become, with names in the place of ids. */
function valuesOf(
  type: FileType,
  fields: readonly string[],
  before: Message,
  after: Message,
  shown: (path: string) => string,
): readonly ChangedValue[] {
  const values = findChangedValues(fileForms[type].schema, fields, before, after);
  return values.map((value) => ({ ...value, before: shown(value.before), after: shown(value.after) }));
}

/** Returns a message whose references are as calls need them. */
function calledMessage(message: Message, called: (path: string) => string): Message {
  if (isMessage(message, GroupMemberSchema)) return message;
  if (isMessage(message, SubgroupSchema)) {
    return Object.assign(clone(SubgroupSchema, message), { groupPath: called(message.groupPath) });
  }
  if (!isMessage(message, RoleBindingSchema)) return message;
  const { rolePath, subjectPath } = message;
  const references = { rolePath: called(rolePath), subjectPath: called(subjectPath) };
  return Object.assign(clone(RoleBindingSchema, message), references);
}

const idInPath = /@([0-9a-f-]{36})/g;

function pathsOf({ now, past }: Sides, wanted: Side, standing: Side): Pick<RollbackState, "shown" | "called"> {
  const names = new Map<string, string>();
  for (const side of [past, now]) for (const { id, name } of side.values()) if (name !== "") names.set(id, name);
  const created = new Map<string, string>();
  for (const { type, id, path, name } of wanted.values())
    if ((type === "group" || type === "role") && !standing.has(path)) created.set(id, name);
  return {
    shown: (path) => path.replaceAll(idInPath, (all, id: string) => names.get(id) ?? all),
    called: (path) => path.replaceAll(idInPath, (all, id: string) => created.get(id) ?? all),
  };
}

function changeOfOrg({ org: { now, past } }: Sides): readonly PlannedChange[] {
  const fields = changedFields("org", now, past).filter((field) => field !== "name");
  const rest = { message: past, sent: past, place: "", values: findChangedValues(OrgSchema, fields, now, past) };
  return fields.length === 0 ? [] : [{ action: "update", type: "org", path: "", fields, ...rest }];
}

type States = ReturnType<typeof planStates>;
type Names = ReadonlyMap<FileType, readonly PlannedChange[]>;

const named: readonly FileType[] = ["member", "role", "group", "project", "identity provider", "client", "webhook"];
const within: readonly FileType[] = ["subgroup", "membership", "role binding"];

/** Orders changes so that each finds what it needs, and nobody loses what another change needs. */
function inOrder({ creations, updates, deletions }: Contents, states: States, names: Names): readonly PlannedChange[] {
  const of = (changes: readonly PlannedChange[], types: readonly FileType[]): readonly PlannedChange[] =>
    types.flatMap((type) =>
      changes.filter((change) => change.type === type).toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    );
  return [
    // These could make a circle with new ones.
    ...of(deletions, ["subgroup"]),
    ...named.flatMap((type) => names.get(type) ?? []),
    ...states.activations,
    // They are in projects, which are open now.
    ...(names.get("role binding") ?? []),
    ...of(creations, ["role", "group"]),
    ...of(updates, named),
    ...within.flatMap((type) => [...of(creations, [type]), ...of(updates, [type])]),
    ...of(deletions, removedLast),
    ...states.suspensions,
  ];
}

function requireFew(changes: readonly PlannedChange[], name: string): void {
  const single = changes.filter(({ action }) => action !== "create" && action !== "delete").length;
  const [count, most, what] =
    single > maxUpdates
      ? [single, maxUpdates, "updates and changes of states"]
      : [changes.length, maxChanges, "changes"];
  if (count <= most) return;
  const description = `the rollback makes ${count} ${what}, and at most ${most} are made at once: lead the org back in parts, to a later revision first`;
  throw new ServiceError("LIMIT_EXCEEDED", description, { quotas: [{ subject: `/orgs/${name}`, description }] });
}

/** How many sentences a response has. */
const maxSentences = 100;

function fewOf(sentences: readonly string[]): readonly string[] {
  const more = sentences.length - maxSentences;
  return more <= 0 ? sentences : [...sentences.slice(0, maxSentences), `and ${more} more`];
}
