// The format of an organisation file, in JSON or YAML:
//
//   file    = { org, display_name?, description?, admins?: [member], members?: [member], groups?: [group],
//               projects?: [project], grants?: [grant] }
//   member  = name | { name, display_name?, description?, type?: "user" | "application" }
//   group   = { name, parent?: name of a group | null, description?, maintainers?: [name], members?: [name] }
//   project = name | { name, display_name?, description? }
//   grant   = { group: name, project: name, role: "read" | "triage" | "write" | "maintain" | "admin" }
//
// Names are free text and compared without case. `plan/resolve-names.ts` finds the names in the API for them.
//
// The format is not a Protobuf message, because its JSON has no bare names in place of objects and no lowercase values of
// enums, its decoder stops at the first problem, and CEL cannot compare names without case or name the entry at fault. Texts
// that the API takes as they are have the API's constraints (`contract-rules.ts`).
import { checkGroupTree } from "./check-group-tree.ts";
import { brokenRules } from "./contract-rules.ts";
import { mergeEntries } from "./merge-entries.ts";
import { nameKey } from "../../org-files/names/name-key.ts";
import { createProblemList } from "./problem-list.ts";
import { type GrantEntry, keysOf, readGrants, readReference } from "./read-grants.ts";
import { type Fail, at, isObject, readList, readName, readObject, readOneOf, readText } from "./read-shape.ts";

/** A valid organisation file. Fields that were left out are empty. */
export interface OrganisationFile {
  readonly org: NamedEntry;
  /** Admins and members, without duplicates. */
  readonly members: readonly MemberEntry[];
  /** The names of the admins in `members`, without duplicates. */
  readonly admins: readonly string[];
  readonly groups: readonly GroupEntry[];
  readonly projects: readonly NamedEntry[];
  readonly grants: readonly GrantEntry[];
  /** The number of duplicate members, projects and grants. */
  readonly repeated: number;
}

interface NamedEntry {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
}

export interface MemberEntry extends NamedEntry {
  readonly type: "" | "user" | "application";
}

export interface GroupEntry {
  readonly name: string;
  readonly description: string;
  /** The name of the parent group. */
  readonly parent: string;
  /** The names of maintainers and members, as written in the file. */
  readonly members: readonly string[];
}

export interface FileOptions {
  /** Whether groups may name members that are in neither `members` nor `admins`. By default, each is a problem. */
  readonly skipUnknownMembers?: boolean | undefined;
}

/** @throws ImportError with all problems and their places. */
export function checkOrganisationFile(
  content: unknown,
  file: string,
  { skipUnknownMembers = false }: FileOptions = {},
): OrganisationFile {
  const problems = createProblemList(file);
  const organisation = readOrganisation(content, skipUnknownMembers, problems.add);
  problems.throwIfAny();
  return organisation;
}

const fileKeys = ["org", "display_name", "description", "admins", "members", "groups", "projects", "grants"] as const;

function readOrganisation(content: unknown, skipUnknownMembers: boolean, fail: Fail): OrganisationFile {
  const file = readObject(content, "", fileKeys, fail);
  const org = readNamed(readName(file.org, "org", fail), file, "", fail);
  const readMembers = (key: "admins" | "members") =>
    readList(file[key], key, fail, (item, place) => ({ place, entry: readMember(item, place, fail) }));
  const admins = readMembers("admins");
  const members = mergeEntries([...admins, ...readMembers("members")], fail);
  const known = keysOf(members.entries);
  const readMemberOfGroup = (item: unknown, place: string): string =>
    skipUnknownMembers
      ? readName(item, place, fail)
      : readReference(
          item,
          place,
          "member",
          known,
          fail,
          "; list it in members, or import with --skip-unknown-members",
        );
  const groups = readList(file.groups, "groups", fail, (item, place) =>
    readGroup(item, place, readMemberOfGroup, fail),
  );
  checkGroupTree(groups, fail);
  const projects = mergeEntries(
    readList(file.projects, "projects", fail, (item, place) => ({ place, entry: readProject(item, place, fail) })),
    fail,
  );
  const grants = readGrants(file.grants, groups, projects.entries, fail);
  return {
    org,
    members: members.entries,
    admins: [...new Map(admins.map(({ entry: { name } }) => [nameKey(name), name])).values()],
    groups,
    projects: projects.entries,
    grants: grants.grants,
    repeated: members.repeated + projects.repeated + grants.repeated,
  };
}

function readMember(value: unknown, place: string, fail: Fail): MemberEntry {
  if (!isObject(value)) return { ...bareEntry(value, place, fail), type: "" };
  const fields = readObject(value, place, ["name", "display_name", "description", "type"], fail);
  const name = readName(fields.name, at(place, "name"), fail);
  return { ...readNamed(name, fields, place, fail), type: readMemberType(fields.type, at(place, "type"), fail) };
}

function readProject(value: unknown, place: string, fail: Fail): NamedEntry {
  if (!isObject(value)) return bareEntry(value, place, fail);
  const fields = readObject(value, place, ["name", "display_name", "description"], fail);
  return readNamed(readName(fields.name, at(place, "name"), fail), fields, place, fail);
}

function readGroup(
  value: unknown,
  place: string,
  readMemberOfGroup: (item: unknown, place: string) => string,
  fail: Fail,
): GroupEntry {
  const keys = ["name", "parent", "description", "maintainers", "members"] as const;
  const fields = readObject(value, place, keys, fail);
  const readNames = (key: "maintainers" | "members") => readList(fields[key], at(place, key), fail, readMemberOfGroup);
  return {
    name: readName(fields.name, at(place, "name"), fail),
    parent: readText(fields.parent, at(place, "parent"), fail),
    description: readRuled(fields.description, at(place, "description"), "description", fail),
    members: [...readNames("maintainers"), ...readNames("members")],
  };
}

function bareEntry(value: unknown, place: string, fail: Fail): NamedEntry {
  return { name: readName(value, place, fail), displayName: "", description: "" };
}

function readNamed(
  name: string,
  fields: { readonly display_name?: unknown; readonly description?: unknown },
  place: string,
  fail: Fail,
): NamedEntry {
  return {
    name,
    displayName: readRuled(fields.display_name, at(place, "display_name"), "displayName", fail),
    description: readRuled(fields.description, at(place, "description"), "description", fail),
  };
}

/** Reads a text that must satisfy the API's constraints. */
function readRuled(value: unknown, place: string, field: "displayName" | "description", fail: Fail): string {
  const text = readText(value, place, fail);
  if (text !== "") for (const problem of brokenRules(field, text)) fail(place, problem);
  return text;
}

function readMemberType(value: unknown, place: string, fail: Fail): MemberEntry["type"] {
  if (value === undefined || value === null) return "";
  return readOneOf(value, place, ["user", "application"], fail) ?? "";
}
