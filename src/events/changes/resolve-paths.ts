// The paths in a filter of a log. A log keeps ids, so that what was renamed is found, and what has got its name is not: a path is looked up
// once, and compared by the ids.
import { sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { errorIn, quote } from "../../filters/error-at.ts";
import type { Condition, Operand } from "../../filters/condition.ts";
import { parseAnyPath } from "../../paths/parse-path.ts";
import type { AnyPath } from "../../paths/parse-path.ts";
import { allPatterns, isSamePattern, patterns, sharesIds } from "../../paths/patterns.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { findInPlace } from "../../standard-methods/read/row-reader.ts";
import { idOf } from "../../standard-methods/rows/row-key.ts";
import { actorPath, resourcePath } from "./fields.ts";
import type { Holds } from "../../access/evaluation/author-holds.ts";
import type { LogOwner } from "./store.ts";

interface Lookup {
  readonly database: Pick<Database, "reads">;
  readonly registry: ResourceRegistry;
  /** Whose log is read. */
  readonly owner: LogOwner;
  /** Whether the caller holds a permission on a path. */
  readonly holds: Holds;
}

const never: Condition = { kind: "any", conditions: [] };

/**
 * Replaces the paths in a condition by the ids of what they name. A path that names nothing matches nothing.
 *
 * @throws ServiceError FIELD_INVALID for a comparator that paths do not support, PATH_INVALID for what is no path.
 */
export async function resolvePaths(lookup: Lookup, condition: Condition): Promise<Condition> {
  switch (condition.kind) {
    case "all":
    case "any": {
      const conditions: Condition[] = [];
      for (const each of condition.conditions) conditions.push(await resolvePaths(lookup, each));
      return { ...condition, conditions };
    }
    case "not":
      return { ...condition, condition: await resolvePaths(lookup, condition.condition) };
    case "present":
      if (isOf(condition.operand, resourcePath)) return { kind: "all", conditions: [] };
      return isOf(condition.operand, actorPath) ? { kind: "present", operand: uuid("actor_id") } : condition;
    default:
      if (isOf(condition.operand, actorPath)) return comparePath(condition, (text) => ofActor(lookup, text));
      if (!isOf(condition.operand, resourcePath)) return condition;
      return comparePath(condition, (text, isBelow) => ofResource(lookup, text, isBelow));
  }
}

/**
 * Checks that the paths in a condition have ids alone, so that they mean the same whatever is renamed, deleted or created.
 *
 * @throws ServiceError FIELD_INVALID, as `resolvePaths`, and for a path with a name; PATH_INVALID.
 */
export function requireIdsInPaths(condition: Condition): void {
  switch (condition.kind) {
    case "all":
    case "any":
      return condition.conditions.forEach(requireIdsInPaths);
    case "not":
      return requireIdsInPaths(condition.condition);
    case "present":
      return;
    default: {
      const isActor = isOf(condition.operand, actorPath);
      if (!isActor && !isOf(condition.operand, resourcePath)) return;
      const { text } = pathIn(condition);
      const { references } = parseAnyPath(isActor ? [patterns.Member] : allPatterns, text, "filter");
      if (references.every(({ by }) => by === "id")) return;
      throw errorIn(
        "filter",
        `a path must have ids in place of names here, as /orgs/@<id>/members/@<id>; got ${quote(text)}`,
      );
    }
  }
}

/** @param match returns the condition that the path is a text or, if it is so, that it begins with it. */
async function comparePath(
  condition: Condition,
  match: (text: string, isBelow: boolean) => Promise<Condition>,
): Promise<Condition> {
  const { text, isBelow, isNot } = pathIn(condition);
  const matched = await match(text, isBelow);
  return isNot ? { kind: "not", condition: matched } : matched;
}

function pathIn(condition: Condition): { readonly text: string; readonly isBelow: boolean; readonly isNot: boolean } {
  if (condition.kind === "compare" && (condition.comparator === "=" || condition.comparator === "!="))
    return { text: condition.value, isBelow: false, isNot: condition.comparator === "!=" };
  if (condition.kind === "contains" && condition.parts.length === 1)
    return { text: condition.parts[0] ?? "", isBelow: true, isNot: false };
  throw errorIn("filter", `a path supports =, != and :, without wildcards; ":" also finds what is below a resource`);
}

async function ofActor(lookup: Lookup, text: string): Promise<Condition> {
  const path = parseAnyPath([patterns.Member], text, "filter");
  if (!(await mayName(lookup, path))) return never;
  const id = await idOfPath(lookup, path);
  return id === undefined ? never : equals("actor_id", id);
}

/**
 * Whether the caller may learn who has a name: the log of an org names its own members, and shows others by their ids, so a name would
 * tell whose the id is.
 */
async function mayName({ database, owner, holds }: Lookup, path: AnyPath): Promise<boolean> {
  const [org] = path.references;
  if (owner.kind === "platform" || path.references.every(({ by }) => by === "id")) return true;
  if (await holds("iam.members.get", path)) return true;
  if (org === undefined || org.by === "any") return false;
  const found = await database.reads
    .selectFrom("orgs")
    .select(["id", "customer_id"])
    .where(org.by, "=", org.value)
    .where("delete_time", "is", null)
    .executeTakeFirst();
  return found !== undefined && owner.id === (owner.kind === "org" ? found.id : found.customer_id);
}

async function ofResource(lookup: Lookup, text: string, isBelow: boolean): Promise<Condition> {
  const path = parseAnyPath(allPatterns, text, "filter");
  const { pattern } = path;
  const id = await idOfPath(lookup, path);
  if (id === undefined) return never;
  const isOrg = isSamePattern(pattern, patterns.Org);
  if (isBelow && isOrg) return equals("org_id", id);
  // What is directly below an org, or in none, contains others.
  if (isBelow && pattern.length === (pattern[0] === patterns.Org[0] ? 2 : 1)) return equals("container_id", id);
  const { type } = definitionAt(lookup.registry, path);
  const itself: Condition[] = [equals("resource_id", id), isType(type)];
  if (sharesIds(pattern)) {
    const container = await idOfPath(lookup, {
      pattern: pattern.slice(0, -1),
      references: path.references.slice(0, -1),
    });
    if (container === undefined) return never;
    itself.push(equals("container_id", container));
  }
  return { kind: "all", conditions: itself };
}

/** Returns the id of what a path names; undefined if there is nothing of that name. */
async function idOfPath({ database, registry }: Lookup, path: AnyPath): Promise<string | undefined> {
  const last = path.references.at(-1);
  if (last?.by === "id") return last.value;
  const definition = definitionAt(registry, path);
  const place = definition.places.find(({ pattern }) => isSamePattern(pattern, path.pattern));
  if (place === undefined) return undefined;
  const row = await findInPlace(database.reads, definition as never, place, path.references);
  return row === undefined ? undefined : idOf(definition, row);
}

function definitionAt({ definitions }: ResourceRegistry, { pattern }: AnyPath): ResourceDefinition {
  const definition = definitions.find(({ places, otherPlaces = [] }) =>
    [...places.map((place) => place.pattern), ...otherPlaces].some((each) => isSamePattern(each, pattern)),
  );
  if (definition === undefined) throw new Error(`no resource is at ${pattern.join("/")}`);
  return definition;
}

type IdColumn = "actor_id" | "container_id" | "org_id" | "resource_id";

const uuid = (column: IdColumn): Operand => ({ kind: "scalar", type: "uuid", value: sql.ref(`changes.${column}`) });

const equals = (column: IdColumn, value: string): Condition => ({
  kind: "compare",
  operand: uuid(column),
  comparator: "=",
  value,
});

const isType = (value: string): Condition => ({
  kind: "compare",
  operand: { kind: "text", value: sql.ref("changes.resource_type") },
  comparator: "=",
  value,
});

function isOf(operand: Operand, marker: unknown): boolean {
  return operand.value === marker;
}
