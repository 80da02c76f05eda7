// The paths in a filter of a log. A log keeps ids, so that what was renamed is found, and what has got its name is not: a path is looked up
// once, and compared by the ids.
import { sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { errorIn, quote } from "../../filters/error-at.ts";
import type { Condition, Operand } from "../../filters/condition.ts";
import { parseAnyPath, parseSingletonPath } from "../../paths/parse-path.ts";
import type { AnyPath } from "../../paths/parse-path.ts";
import {
  allPatterns,
  isSamePattern,
  parentPatternsOf,
  patterns,
  sharesIds,
  singletonPath,
  singletonTypes,
} from "../../paths/patterns.ts";
import type { SingletonType } from "../../paths/patterns.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { findInPlace } from "../../standard-methods/read/row-reader.ts";
import { idOf } from "../../standard-methods/rows/row-key.ts";
import { actorPath, resourcePath } from "./fields.ts";
import type { Holds } from "../../access/evaluation/author-holds.ts";
import type { LogOwner, Pinned } from "./log-owner.ts";

interface Lookup {
  readonly database: Pick<Database, "reads">;
  readonly registry: ResourceRegistry;
  /** Whose log is read. */
  readonly owner: LogOwner;
  /** Whether the caller holds a permission on a path. */
  readonly holds: Holds;
}

export const never: Condition = { kind: "any", conditions: [] };

/** What stands for the comparisons of a path in a filter. */
export interface PathField {
  /** The condition that there is one. */
  readonly present: Condition;
  /** Returns the condition that the path is a text or, if `isBelow`, that it begins with it. */
  readonly match: (text: string, isBelow: boolean) => Promise<Condition>;
}

/**
 * Replaces the paths in a condition by the ids of what they name. A path that names nothing matches nothing.
 *
 * @throws ServiceError FIELD_INVALID for a comparator that paths do not support, PATH_INVALID for what is no path.
 */
export function resolvePaths(lookup: Lookup, condition: Condition): Promise<Condition> {
  const fields = new Map<unknown, PathField>([
    [actorPath, { present: { kind: "present", operand: operands.actor_id }, match: (text) => ofActor(lookup, text) }],
    [
      resourcePath,
      { present: { kind: "all", conditions: [] }, match: (text, isBelow) => ofResource(lookup, text, isBelow) },
    ],
  ]);
  return replacePaths(condition, fields);
}

/** Does the same for other fields, by what stands for their values. */
export async function replacePaths(condition: Condition, fields: ReadonlyMap<unknown, PathField>): Promise<Condition> {
  switch (condition.kind) {
    case "all":
    case "any": {
      const conditions: Condition[] = [];
      for (const each of condition.conditions) conditions.push(await replacePaths(each, fields));
      return { ...condition, conditions };
    }
    case "not":
      return { ...condition, condition: await replacePaths(condition.condition, fields) };
    case "present":
      return fields.get(condition.operand.value)?.present ?? condition;
    default: {
      const field = fields.get(condition.operand.value);
      return field === undefined ? condition : comparePath(condition, field);
    }
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
      const isActor = condition.operand.value === actorPath;
      if (!isActor && condition.operand.value !== resourcePath) return;
      const { text } = pathIn(condition);
      const { references } = isActor ? parseAnyPath([patterns.Member], text, "filter") : parseResourcePath(text);
      if (references.every(({ by }) => by === "id")) return;
      throw errorIn(
        "filter",
        `a path must have ids in place of names here, as /orgs/@<id>/members/@<id>; got ${quote(text)}`,
      );
    }
  }
}

async function comparePath(condition: Condition, { match }: PathField): Promise<Condition> {
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
  const id = await findMemberId(lookup, text);
  return id === undefined ? never : isActor(id);
}

/** Returns the id of the member at a path; undefined for none, and for one of which the caller may not know who it is. */
export async function findMemberId(lookup: Lookup, text: string): Promise<string | undefined> {
  const path = parseAnyPath([patterns.Member], text, "filter");
  return (await mayName(lookup, path)) ? idOfPath(lookup, path) : undefined;
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
  const singleton = singletonAt(text);
  if (singleton !== undefined) return ofSingleton(lookup, singleton, text);
  const path = parseAnyPath(allPatterns, text, "filter");
  const { pattern } = path;
  const id = await idOfPath(lookup, path);
  if (id === undefined) return never;
  const isOrg = isSamePattern(pattern, patterns.Org);
  if (isBelow && isOrg) return equals("org_id", id);
  const isInOrg = pattern[0] === patterns.Org[0] && !isOrg;
  const orgOf = { pattern: patterns.Org, references: path.references.slice(0, 1) };
  const orgId = isInOrg ? await idOfPath(lookup, orgOf) : undefined;
  const inOrg = orgId === undefined ? [] : [equals("org_id", orgId)];
  // What is directly below an org, or in none, contains others.
  if (isBelow && pattern.length === (isInOrg ? 2 : 1))
    return { kind: "all", conditions: [...inOrg, equals("container_id", id)] };
  const { type } = definitionAt(lookup.registry, path);
  const itself: Condition[] = [...inOrg, equals("resource_id", id), isType(type)];
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

function parseResourcePath(text: string): AnyPath {
  const singleton = singletonAt(text);
  return singleton === undefined ? parseAnyPath(allPatterns, text, "filter") : parseSingleton(singleton, text);
}

function parseSingleton(type: SingletonType, text: string): AnyPath {
  return parseSingletonPath(type, parentPatternsOf(type) ?? [], text, "filter");
}

/** Returns the type of the singleton that a path names, if it does: only its last segment is no name or id. */
function singletonAt(text: string): SingletonType | undefined {
  const segments = text.replace(/^\//, "").split("/");
  if (segments.length % 2 === 0) return undefined;
  return singletonTypes.find((type) => singletonPath(type, "") === `/${segments.at(-1)}`);
}

/** A singleton is logged with the id of its parent; the log of the platform, which has none, is found by its type and path. */
async function ofSingleton(lookup: Lookup, type: SingletonType, text: string): Promise<Condition> {
  const parent = parseSingleton(type, text);
  if (parent.pattern.length === 0)
    return { kind: "all", conditions: [isType(type), isText("resource_path", singletonPath(type, ""))] };
  const id = await idOfPath(lookup, parent);
  return id === undefined ? never : { kind: "all", conditions: [equals("resource_id", id), isType(type)] };
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

const uuid = (column: string): Operand => ({ kind: "scalar", type: "uuid", value: sql.ref(`changes.${column}`) });

const operands = {
  actor_id: uuid("actor_id"),
  container_id: uuid("container_id"),
  org_id: uuid("org_id"),
  resource_id: uuid("resource_id"),
} as const;

const compare = (column: keyof typeof operands, comparator: "=" | ">=" | "<=", value: string): Condition => ({
  kind: "compare",
  operand: operands[column],
  comparator,
  value,
});

const equals = (column: keyof typeof operands, value: string): Condition => compare(column, "=", value);

/** As a range, which the planner does not leave out of an order: by that, it takes the index of actors (store.ts). */
const isActor = (id: string): Condition => ({
  kind: "all",
  conditions: [compare("actor_id", ">=", id), compare("actor_id", "<=", id)],
});

/** @param condition with its paths resolved. */
export function findPinned(condition: Condition): Pinned {
  if (condition.kind === "all") {
    const found = condition.conditions.map(findPinned);
    return { orgId: found.find(({ orgId }) => orgId !== undefined)?.orgId, actor: found.some(({ actor }) => actor) };
  }
  if (condition.kind !== "compare") return { orgId: undefined, actor: false };
  const { operand, comparator, value } = condition;
  const orgId = operand === operands.org_id && comparator === "=" ? value : undefined;
  return { orgId, actor: operand === operands.actor_id };
}

const isText = (column: "resource_path" | "resource_type", value: string): Condition => ({
  kind: "compare",
  operand: { kind: "text", value: sql.ref(`changes.${column}`) },
  comparator: "=",
  value,
});

const isType = (value: string): Condition => isText("resource_type", value);
