// Reads the parts of a file: its lists of resources, and short forms that other tools and imports have.
import { type JsonObject, type JsonValue, create } from "@bufbuild/protobuf";
import { MemberSchema } from "../../gen/iam/v1alpha/member_pb.ts";
import { isName } from "../paths/parse-path.ts";
import { validateMessage } from "../validation/validate-message.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { FileType } from "./file-resources.ts";
import { type SectionKey, contentKeys, fileSections } from "./file-sections.ts";
import { grantRoles, permissionsOfRole, strongestRole } from "./names/grant-roles.ts";
import { nameInPaths } from "./names/name-in-paths.ts";
import { nameRoleBinding } from "./names/name-role-binding.ts";
import { readQuota } from "./read-quota.ts";
import { isObject, quote } from "./json-values.ts";
import { type Fail, readEntry, readList, readObject, readText } from "./read-entry.ts";

/** What reads parts of a file and adds what they stand for. */
export interface FileReader {
  readonly fail: Fail;
  /** The path of the org: `/orgs/acme`. */
  readonly orgPath: string;
  /** Whether a resource was added. */
  readonly has: (path: string) => boolean;
  /** Adds a resource. Two of the same path must be equal. */
  readonly add: (type: FileType, path: string, fields: JsonObject, place: string) => void;
  /** Notes that the file says what the limits of a level are, also if it names none. A level is a path below the org, empty for the org. */
  readonly addQuota: (level: string) => void;
  /** Adds a limit of a level. Two of the same kind must be equal. */
  readonly addLimit: (level: string, kind: string, limit: number, place: string) => void;
}

/** Reads a part of a file, and yields at each entry, also at one that is wrong. */
type ReadSection = (reader: FileReader, file: JsonObject) => Generator<void, void, void>;

function* entriesOf(
  reader: FileReader,
  file: JsonObject,
  key: string,
): Generator<readonly [JsonValue, string], void, void> {
  for (const [index, value] of readList(file[key], `org_file.${key}`, reader.fail).entries())
    yield [value, `org_file.${key}[${index}]`];
}

function* readMembers(reader: FileReader, file: JsonObject): Generator<void, void, void> {
  for (const [value, place] of entriesOf(reader, file, "members")) {
    addMember(reader, value, place);
    yield;
  }
}

/** Adds a member, unless it is only named and was added before. Returns its name. */
function addMember(reader: FileReader, value: JsonValue, place: string): string | undefined {
  const entry = readEntry("member", value, place, [], reader.fail);
  const fields = entry && nameFields(entry.fields, place, reader.fail);
  if (fields === undefined) return undefined;
  const { name, type } = fields;
  const path = `members/${name}`;
  // Names of types are written as in the API, or in lower case.
  const typed = typeof type === "string" ? { ...fields, type: type.toUpperCase() } : fields;
  if (typeof value !== "string" || !reader.has(path)) reader.add("member", path, typed, place);
  return name;
}

/** Admins are members, own the org, and hold the strongest of the roles that the file grants. */
function* readAdmins(reader: FileReader, file: JsonObject): Generator<void, void, void> {
  const { grants } = file;
  const isGranted = Array.isArray(grants) && grants.some((each) => isObject(each) && each["role"] === strongestRole);
  const roles = ["/roles/owner", ...(isGranted ? [`${reader.orgPath}/roles/${strongestRole}`] : [])];
  for (const [value, place] of entriesOf(reader, file, "admins")) {
    const name = addMember(reader, value, place);
    for (const rolePath of name === undefined ? [] : roles) bind(reader, "", `members/${name}`, rolePath, place);
    yield;
  }
}

/** Returns what reads a list whose entries have no more than the fields of their messages. */
function readPlain(
  type: "role" | "identity provider" | "client" | "webhook",
  key: string,
  collection = key,
): ReadSection {
  return function* (reader, file) {
    for (const [value, place] of entriesOf(reader, file, key)) {
      const fields = readEntry(type, value, place, [], reader.fail)?.fields;
      if (fields !== undefined) reader.add(type, `${collection}/${textOf(fields["name"])}`, fields, place);
      yield;
    }
  };
}

function* readGroups(reader: FileReader, file: JsonObject): Generator<void, void, void> {
  const contents = contentKeys("groups");
  for (const [value, place] of entriesOf(reader, file, "groups")) {
    yield;
    const entry = readEntry("group", value, place, contents, reader.fail);
    const fields = entry && nameFields(entry.fields, place, reader.fail);
    if (entry === undefined || fields === undefined) continue;
    const path = `groups/${fields.name}`;
    reader.add("group", path, fields, place);
    const { parent } = entry.others;
    if (parent !== undefined && parent !== "") {
      const above = nameInPaths(readText(parent, `${place}.parent`, reader.fail));
      addInGroup(reader, "subgroup", `groups/${above}`, textOf(fields.name), `${place}.parent`);
    }
    for (const [key, type] of [
      ["maintainers", "membership"],
      ["members", "membership"],
      ["subgroups", "subgroup"],
    ] as const) {
      for (const [index, each] of readList(entry.others[key], `${place}.${key}`, reader.fail).entries()) {
        addInGroup(reader, type, path, each, `${place}.${key}[${index}]`);
        yield;
      }
    }
  }
}

/** What is in a group, by the collection in which it is in the org. */
const inGroup = {
  membership: { field: "member_path", collection: "members" },
  subgroup: { field: "group_path", collection: "groups" },
} as const;

function addInGroup(
  reader: FileReader,
  type: "membership" | "subgroup",
  group: string,
  value: JsonValue,
  place: string,
): void {
  const { field, collection } = inGroup[type];
  const fields = readEntry(type, value, place, [], reader.fail)?.fields;
  if (fields === undefined) return;
  const name =
    typeof value === "string" ? nameInPaths(value) : nameAt(reader, fields[field], [collection], `${place}.${field}`);
  if (name === undefined) return;
  const below = `${group}/${type === "membership" ? "members" : "subgroups"}/${name}`;
  // Maintainers are members, too.
  if (typeof value === "string" && reader.has(below)) return;
  reader.add(type, below, { ...fields, [field]: `${reader.orgPath}/${collection}/${name}` }, place);
}

function* readProjects(reader: FileReader, file: JsonObject): Generator<void, void, void> {
  for (const [value, place] of entriesOf(reader, file, "projects")) {
    yield;
    const entry = readEntry("project", value, place, contentKeys("projects"), reader.fail);
    const fields = entry && nameFields(entry.fields, place, reader.fail);
    if (entry === undefined || fields === undefined) continue;
    const path = `projects/${fields.name}`;
    reader.add("project", path, fields, place);
    yield* readQuota(reader, path, entry.others["quota"], `${place}.quota`);
    const bindings = readList(entry.others["role_bindings"], `${place}.role_bindings`, reader.fail);
    for (const [index, each] of bindings.entries()) {
      addBinding(reader, `${path}/`, each, `${place}.role_bindings[${index}]`);
      yield;
    }
  }
}

function* readBindings(reader: FileReader, file: JsonObject): Generator<void, void, void> {
  for (const [value, place] of entriesOf(reader, file, "role_bindings")) {
    addBinding(reader, "", value, place);
    yield;
  }
}

/** @param above the path of the project with a slash, or nothing for the org. */
function addBinding(reader: FileReader, above: string, value: JsonValue, place: string): void {
  const fields = readEntry("role binding", value, place, [], reader.fail)?.fields;
  if (fields === undefined) return;
  const [subject, role] = [fields["subject_path"], fields["role_path"]];
  const whole: Record<string, JsonValue> = { ...fields };
  if (typeof subject === "string")
    whole["subject_path"] = pathAt(reader, subject, ["members", "groups"], `${place}.subject_path`);
  if (typeof role === "string") {
    const predefined = /^\/?(roles\/[^/]+)$/.exec(role)?.[1];
    whole["role_path"] =
      predefined === undefined ? pathAt(reader, role, ["roles"], `${place}.role_path`) : `/${predefined}`;
  }
  reader.add("role binding", `${above}roleBindings/${textOf(fields["name"])}`, whole, place);
}

function* readGrants(reader: FileReader, file: JsonObject): Generator<void, void, void> {
  for (const [value, place] of entriesOf(reader, file, "grants")) {
    yield;
    const fields = readObject(value, place, contentKeys("grants"), reader.fail);
    if (fields === undefined) continue;
    const role = grantRoles.find((each) => each === fields["role"]);
    if (role === undefined) reader.fail(`${place}.role`, `must be one of ${grantRoles.join(", ")}`);
    const [group, project] = [fields["group"], fields["project"]].map((text, index) =>
      nameInPaths(readText(text, `${place}.${index === 0 ? "group" : "project"}`, reader.fail)),
    );
    if (role === undefined || group === undefined || project === undefined) continue;
    const permissions = permissionsOfRole(role);
    if (!reader.has(`roles/${role}`)) reader.add("role", `roles/${role}`, { name: role, permissions }, place);
    bind(reader, `projects/${project}/`, `groups/${group}`, `${reader.orgPath}/roles/${role}`, place);
  }
}

/** Adds a role binding with the name that an import gives it. */
function bind(reader: FileReader, above: string, subject: string, rolePath: string, place: string): void {
  const name = nameRoleBinding(lastOf(subject), lastOf(rolePath));
  const fields = { name, role_path: rolePath, subject_path: `${reader.orgPath}/${subject}` };
  reader.add("role binding", `${above}roleBindings/${name}`, fields, place);
}

const readers: Readonly<Record<SectionKey, ReadSection>> = {
  quota: (reader, file) => readQuota(reader, "", file["quota"], "org_file.quota"),
  members: readMembers,
  admins: readAdmins,
  roles: readPlain("role", "roles"),
  groups: readGroups,
  projects: readProjects,
  role_bindings: readBindings,
  grants: readGrants,
  identity_providers: readPlain("identity provider", "identity_providers", "identityProviders"),
  clients: readPlain("client", "clients"),
  webhooks: readPlain("webhook", "webhooks"),
};

export const sections: readonly ReadSection[] = fileSections.map(({ key }) => readers[key]);

/** Returns the fields of an entry that can have any name, which becomes its display name if it is none in paths. */
function nameFields(
  fields: JsonObject,
  place: string,
  fail: Fail,
): (JsonObject & { readonly name: string }) | undefined {
  const original = readText(fields["name"], `${place}.name`, fail);
  if (original === "") return undefined;
  const name = nameInPaths(original);
  const { display_name: displayName = "" } = fields;
  const isKept = name !== original && displayName === "" && canBeDisplayed(original);
  return { ...fields, name, ...(isKept && { display_name: original }) };
}

function canBeDisplayed(displayName: string): boolean {
  try {
    validateMessage(MemberSchema, create(MemberSchema, { name: "x", displayName }));
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/** Returns the name at the end of a path of something in the org. */
function nameAt(
  reader: FileReader,
  value: JsonValue | undefined,
  collections: readonly string[],
  place: string,
): string | undefined {
  const text = readText(value, place, reader.fail);
  return text === "" ? undefined : lastOf(pathAt(reader, text, collections, place));
}

/** Returns a path of something in the org, with a slash. */
function pathAt({ orgPath, fail }: FileReader, text: string, collections: readonly string[], place: string): string {
  const path = text.startsWith("/") ? text : `/${text}`;
  const [, ...segments] = path.split("/");
  const [collection = "", name = ""] = segments.slice(2);
  const isHere =
    path.startsWith(`${orgPath}/`) && segments.length === 4 && collections.includes(collection) && isName(name);
  if (!isHere) {
    const forms = collections.map((each) => `${orgPath}/${each}/NAME`).join(" or ");
    fail(place, `must be ${forms}, got ${quote(text)}`);
  }
  return path;
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

const textOf = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");
