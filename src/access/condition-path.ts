// The path of a resource as conditions see it. It is the one that it has now, whatever it was asked for by, so that nobody gets
// round a condition by another way to name the same thing. Where there is no such path, conditions hold nothing: access is only
// ever added.
import type { OrgSnapshot } from "./engine/org-snapshot.ts";

/** Collections of ours below an org, and what is in them. Whatever else there is belongs to other services. */
const tables = { members: "members", groups: "groups", subgroups: "groups", roles: "roles" } as const;
const ours = new Set([...Object.keys(tables), "apiKeys", "roleBindings", "projects"]);

/**
 * What follows on an org or project, `/members/alice`, with current names.
 *
 * @param snapshot of the org; undefined for one that is not at hand.
 * @throws Error when something in it is named by an id whose name is not known.
 */
export function nameRest(snapshot: OrgSnapshot | undefined, rest: string): string {
  if (!rest.includes("/@")) return rest;
  const segments = rest.split("/");
  for (let at = 1; at + 1 < segments.length; at += 2) {
    const [collection = "", reference = ""] = segments.slice(at, at + 2);
    if (reference.startsWith("@") && ours.has(collection)) {
      segments[at + 1] = nameOf(snapshot, collection, reference.slice(1));
    }
  }
  return segments.join("/");
}

function nameOf(snapshot: OrgSnapshot | undefined, collection: string, id: string): string {
  const table = Object.hasOwn(tables, collection) ? tables[collection as keyof typeof tables] : undefined;
  if (snapshot === undefined || table === undefined) throw noPath();
  const entities = table === "roles" ? snapshot.roles.custom : snapshot[table];
  const name = entities.nameOf(entities.findById(id));
  if (name === "") throw noPath();
  return name;
}

/** For what has no one path with names: several resources, or one that is deleted. */
export function noPath(): Error {
  return new Error("conditions are asked about one resource by its name");
}
