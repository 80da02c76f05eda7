// The path of a resource as conditions see it. It has the current names, however the request names the resource, so that a
// condition cannot be bypassed by naming the resource in another way. If a resource has no such path, conditions on it do not
// hold, which is safe because bindings only add access.
import type { EntityTable } from "../engine/tables/entity-table.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";

/** A table of the snapshot that has the names of resources by id. */
export type SnapshotTable = "members" | "groups" | "roles" | "projects";

/** The collections below an org. */
export interface ConditionNames {
  /**
   * All collections of this API, each with the snapshot table that has the names of its resources, or "unnamed" if no table has
   * them: conditions do not hold for a resource of such a collection that is requested by id. Any other collection belongs to
   * another service, whose names may contain `@`.
   */
  readonly collections: ReadonlyMap<string, SnapshotTable | "unnamed">;
}

/**
 * Checks that every collection of this API is declared. An undeclared collection would be treated as another service's, and a
 * request by id would bypass conditions.
 *
 * @param names all collections of this API below an org.
 * @throws Error that names the missing collection.
 */
export function requireAllCollections(collections: ConditionNames["collections"], names: Iterable<string>): void {
  for (const name of names) {
    if (!collections.has(name)) throw new Error(`the collection ${name} is not declared for conditions`);
  }
}

/**
 * Returns the part of a path below an org or project, such as `/members/alice`, with current names.
 *
 * @param snapshot of the org; undefined if it is not available.
 * @throws Error when the path contains an id whose name is not known.
 */
export function nameRest({ collections }: ConditionNames, snapshot: OrgSnapshot | undefined, rest: string): string {
  if (!rest.includes("/@")) return rest;
  const segments = rest.split("/");
  for (let at = 1; at + 1 < segments.length; at += 2) {
    const [collection = "", reference = ""] = segments.slice(at, at + 2);
    const table = collections.get(collection);
    if (table !== undefined && reference.startsWith("@"))
      segments[at + 1] = nameIn(snapshot, table, reference.slice(1));
  }
  return segments.join("/");
}

function nameIn(snapshot: OrgSnapshot | undefined, table: SnapshotTable | "unnamed", id: string): string {
  if (snapshot === undefined || table === "unnamed") throw noPath();
  return nameById(table === "roles" ? snapshot.roles.custom : snapshot[table], id);
}

/** @throws Error when no entity with this id has a name. Deleted entities have none. */
export function nameById(table: EntityTable, id: string): string {
  const name = table.nameOf(table.findById(id));
  if (name === "") throw noPath();
  return name;
}

/** Returns the error for a target without a single named path: several resources, or a deleted one. */
export function noPath(): Error {
  return new Error("a condition can be evaluated only for one resource with a name");
}
