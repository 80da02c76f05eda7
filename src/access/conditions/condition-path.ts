// The path of a resource as conditions see it. It is the one that it has now, whatever it was asked for by, so that nobody gets
// round a condition by another way to name the same thing. Where there is no such path, conditions hold nothing: access is only
// ever added.
import type { EntityTable } from "../engine/entity-table.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";

/** A table of the snapshot in which an id has its name. */
export type SnapshotTable = "members" | "groups" | "roles" | "projects";

/** What is known of the collections below an org. */
export interface ConditionNames {
  /**
   * All collections of this API, each with the table that has the names of what is in it, or "unnamed" where no name is at hand:
   * of a resource in such a collection that is asked for by its id, conditions hold nothing. Any other collection belongs to
   * another service, which may write an `@` as it likes.
   */
  readonly collections: ReadonlyMap<string, SnapshotTable | "unnamed">;
}

/**
 * Makes sure that no collection of this API is taken for one of another service, where an id would get round conditions.
 *
 * @param names all collections of this API below an org.
 * @throws Error that names the one that is missing.
 */
export function requireAllCollections(collections: ConditionNames["collections"], names: Iterable<string>): void {
  for (const name of names) {
    if (!collections.has(name)) throw new Error(`the collection ${name} is not declared for conditions`);
  }
}

/**
 * What follows on an org or project, `/members/alice`, with current names.
 *
 * @param snapshot of the org; undefined for one that is not at hand.
 * @throws Error when something in it is named by an id whose name is not known.
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

/** @throws Error when there is nothing with the id that has a name: what is deleted has none. */
export function nameById(table: EntityTable, id: string): string {
  const name = table.nameOf(table.findById(id));
  if (name === "") throw noPath();
  return name;
}

/** For what has no one path with names: several resources, or one that is deleted. */
export function noPath(): Error {
  return new Error("conditions are asked about one resource by its name");
}
