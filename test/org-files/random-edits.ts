// Random edits of a file, after which it is still in the order and spelling of exports.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Pick } from "../support/create-pick.ts";

/** A file in which every entry is written out. */
export interface EditedFile {
  readonly org: string;
  readonly members: Map<string, JsonObject>;
  readonly roles: Map<string, JsonObject>;
  readonly groups: Map<string, { fields: JsonObject; readonly members: Set<string>; readonly subgroups: Set<string> }>;
  readonly projects: Map<
    string,
    { fields: JsonObject; readonly limits: Map<string, JsonValue>; readonly bindings: Map<string, JsonObject> }
  >;
  readonly bindings: Map<string, JsonObject>;
}

const listOf = (file: JsonObject, key: string): JsonValue[] => (Array.isArray(file[key]) ? file[key] : []);
const fieldsOf = (entry: JsonValue): JsonObject =>
  typeof entry === "string" ? { name: entry } : { ...(entry as JsonObject) };
const textOf = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");
const nameOf = (entry: JsonValue): string => textOf(fieldsOf(entry)["name"]);
const byName = (entries: readonly JsonValue[]) => new Map(entries.map((entry) => [nameOf(entry), fieldsOf(entry)]));

export function openFile(file: JsonObject): EditedFile {
  return {
    org: textOf(file["org"]),
    members: byName(listOf(file, "members")),
    roles: byName(listOf(file, "roles")),
    groups: new Map(
      listOf(file, "groups").map((entry) => {
        const { members, subgroups, ...fields } = fieldsOf(entry);
        const namesIn = (value: JsonValue | undefined) => new Set(Array.isArray(value) ? value.map(String) : []);
        return [nameOf(entry), { fields, members: namesIn(members), subgroups: namesIn(subgroups) }];
      }),
    ),
    projects: new Map(
      listOf(file, "projects").map((entry) => {
        const { role_bindings: bindings = [], quota = {}, ...fields } = fieldsOf(entry);
        const limits = new Map(Object.entries(fieldsOf(quota)));
        return [nameOf(entry), { fields, limits, bindings: byName(Array.isArray(bindings) ? bindings : []) }];
      }),
    ),
    bindings: byName(listOf(file, "role_bindings")),
  };
}

/** @param quotas those of all projects, or only those with limits, as in exports. */
export function closeFile(
  { org, members, roles, groups, projects, bindings }: EditedFile,
  quotas: "of all projects" | "with limits",
): JsonObject {
  const sorted = <Value>(entries: Map<string, Value>): Value[] =>
    [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);
  const short = (fields: JsonObject): JsonValue => (Object.keys(fields).length === 1 ? (fields["name"] ?? "") : fields);
  const quota = (limits: ReadonlyMap<string, JsonValue>): JsonObject =>
    quotas === "with limits" && limits.size === 0
      ? {}
      : { quota: Object.fromEntries([...limits].toSorted(([one], [other]) => (one < other ? -1 : 1))) };
  const lists = (from: Record<string, JsonValue[]>): JsonObject =>
    Object.fromEntries(Object.entries(from).filter(([, list]) => list.length > 0));
  return {
    org,
    ...lists({
      members: sorted(members).map(short),
      roles: sorted(roles),
      groups: sorted(groups).map(({ fields, members: inside, subgroups }) =>
        short({ ...fields, ...lists({ members: [...inside].toSorted(), subgroups: [...subgroups].toSorted() }) }),
      ),
      projects: sorted(projects).map((each) =>
        short({ ...each.fields, ...quota(each.limits), ...lists({ role_bindings: sorted(each.bindings) }) }),
      ),
      role_bindings: sorted(bindings),
    }),
  };
}

/**
 * Edits a file once. What is removed is removed with everything that refers to it, and owners stay.
 *
 * @param kinds of which projects get limits.
 */
export function edit(file: EditedFile, pick: Pick, number: number, kinds: readonly string[]): void {
  const one = (names: Iterable<string>): string | undefined => {
    const all = [...names];
    return all[pick(Math.max(1, all.length))];
  };
  const [member, group, project] = [one(file.members.keys()), one(file.groups.keys()), one(file.projects.keys())];
  const edits: (() => unknown)[] = [
    () => file.members.set(`new-${number}`, { name: `new-${number}` }),
    () =>
      file.groups.set(`team-${number}`, {
        fields: { name: `team-${number}` },
        members: new Set(),
        subgroups: new Set(),
      }),
    () =>
      file.projects.set(`project-${number}`, {
        fields: { name: `project-${number}` },
        limits: new Map(),
        bindings: new Map(),
      }),
    () => group !== undefined && member !== undefined && file.groups.get(group)?.members.add(member),
    () =>
      group !== undefined && file.groups.get(group)?.members.delete(one(file.groups.get(group)?.members ?? []) ?? ""),
    () => describe(file.members, member, number),
    () => group !== undefined && removeGroup(file, group),
    () => project !== undefined && file.projects.delete(project),
    () => member !== undefined && removeMember(file, member),
    () => project !== undefined && bind(file, project, group),
    () => project !== undefined && file.projects.get(project)?.limits.set(one(kinds) ?? "", pick(1_000) / 8),
    () => project !== undefined && file.projects.get(project)?.limits.delete(one(kinds) ?? ""),
    () =>
      project !== undefined &&
      file.projects.get(project)?.bindings.delete(one(file.projects.get(project)?.bindings.keys() ?? []) ?? ""),
  ];
  edits[pick(edits.length)]?.();
}

/** Keys are in the order of the fields. */
function describe(members: Map<string, JsonObject>, name: string | undefined, number: number): void {
  const fields = name === undefined ? undefined : members.get(name);
  if (name === undefined || fields === undefined) return;
  const { display_name: displayName, type } = fields;
  members.set(name, {
    name,
    ...(displayName !== undefined && { display_name: displayName }),
    description: `Number ${number}`,
    labels: { edited: String(number) },
    ...(type !== undefined && { type }),
  });
}

const isOf = (binding: JsonObject, path: string): boolean => binding["subject_path"] === path;

function removeGroup(file: EditedFile, name: string): void {
  file.groups.delete(name);
  for (const { subgroups } of file.groups.values()) subgroups.delete(name);
  removeBindings(file, `/orgs/${file.org}/groups/${name}`);
}

function removeMember(file: EditedFile, name: string): void {
  const path = `/orgs/${file.org}/members/${name}`;
  if ([...file.bindings.values()].some((binding) => isOf(binding, path))) return;
  file.members.delete(name);
  for (const { members } of file.groups.values()) members.delete(name);
  removeBindings(file, path);
}

function removeBindings({ projects }: EditedFile, path: string): void {
  for (const { bindings } of projects.values())
    for (const [name, binding] of bindings) if (isOf(binding, path)) bindings.delete(name);
}

function bind({ org, projects, groups }: EditedFile, project: string, group: string | undefined): void {
  if (group === undefined || !groups.has(group)) return;
  const name = `views-${group}`.slice(0, 60).replace(/-$/, "");
  const binding = { name, role_path: "/roles/viewer", subject_path: `/orgs/${org}/groups/${group}` };
  projects.get(project)?.bindings.set(name, binding);
}
