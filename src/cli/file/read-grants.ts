import { type GrantRole, grantRoles } from "../../org-files/names/grant-roles.ts";
import { nameKey } from "../../org-files/names/name-key.ts";
import { printable } from "../printable.ts";
import { type Fail, at, readList, readName, readObject, readOneOf } from "./read-shape.ts";

export interface GrantEntry {
  /** The group and the project, as written in the grant. */
  readonly group: string;
  readonly project: string;
  readonly role: GrantRole;
}

type Named = readonly { readonly name: string }[];

/** Reads the distinct grants of roles on projects to groups. The group and the project must be in the file. */
export function readGrants(
  value: unknown,
  groups: Named,
  projects: Named,
  fail: Fail,
): { grants: GrantEntry[]; repeated: number } {
  const knownGroups = keysOf(groups);
  const knownProjects = keysOf(projects);
  const given = readList(value, "grants", fail, (item, place): GrantEntry | undefined => {
    const fields = readObject(item, place, ["group", "project", "role"], fail);
    const group = readReference(fields.group, at(place, "group"), "group", knownGroups, fail);
    const project = readReference(fields.project, at(place, "project"), "project", knownProjects, fail);
    const role = readOneOf(fields.role, at(place, "role"), grantRoles, fail);
    return role && { group, project, role };
  }).filter((grant) => grant !== undefined);
  const grants = new Map(given.map((grant) => [keyOf(grant), grant]));
  return { grants: [...grants.values()], repeated: given.length - grants.size };
}

/** Returns the keys by which references find entries. */
export const keysOf = (entries: Named): ReadonlySet<string> => new Set(entries.map(({ name }) => nameKey(name)));

const keyOf = ({ group, project, role }: GrantEntry): string =>
  JSON.stringify([nameKey(group), nameKey(project), role]);

/** Reads the name of an entry that must be in the file. @param otherwise what else can be done. */
export function readReference(
  value: unknown,
  place: string,
  kind: "group" | "member" | "project",
  known: ReadonlySet<string>,
  fail: Fail,
  otherwise = "",
): string {
  const name = readName(value, place, fail);
  if (name.trim() !== "" && !known.has(nameKey(name))) {
    fail(place, `there is no ${kind} "${printable(name)}" in the file${otherwise}`);
  }
  return name;
}
