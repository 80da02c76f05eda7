// A schema as it is applied: a list of checks. Nothing is compiled to code, so a schema costs little before its first use, and each
// check counts its steps.
import type { JsonValue } from "@bufbuild/protobuf";
import { type Work, nested, spend } from "./work.ts";

/** A schema, or a part of one. */
export interface SchemaNode {
  /** Where it is, as in errors: `#/properties/zone`. */
  readonly location: string;
  /** What `$ref` and `$dynamicRef` in it are relative to. */
  readonly resource: SchemaResource;
  readonly checks: readonly Check[];
  /** Whether it must know which items and properties its parts have looked at: it has `unevaluatedItems` or `-Properties`. */
  readonly collects: boolean;
  /** The schemas in it that are applied to the same value. */
  readonly inPlace: readonly SchemaNode[];
}

/** A schema with an identifier of its own, and the root. */
export interface SchemaResource {
  /** Its nodes by JSON pointer, and those with an anchor by `#` and its name. */
  readonly nodes: ReadonlyMap<string, SchemaNode>;
  /** Those with a dynamic anchor, by its name. */
  readonly dynamic: ReadonlyMap<string, SchemaNode>;
}

export type Check = (visit: Visit) => boolean;

/** A value to which a schema is applied. */
export interface Visit {
  readonly value: JsonValue;
  /** Where the value is; undefined for the whole. */
  readonly place: Place | undefined;
  readonly work: Work;
  /** What is wrong; undefined if nobody asks. */
  readonly problems: Problems | undefined;
  /** What has been looked at; undefined if nobody asks. */
  readonly seen: Seen | undefined;
  readonly scope: Scope;
}

interface Place {
  readonly outer: Place | undefined;
  readonly key: string | number;
}

/** The resources that were entered on the way. */
export interface Scope {
  readonly resource: SchemaResource;
  readonly outer: Scope | undefined;
}

interface Seen {
  readonly properties: Set<string>;
  readonly items: Set<number>;
}

export interface Problem {
  readonly place: Place | undefined;
  readonly keyword: string;
  readonly description: string;
}

interface Problems {
  readonly list: Problem[];
  readonly max: number;
}

/** Reports whether a value fulfils a schema. Goes on after the first problem if there is room for more. */
export function isValid(node: SchemaNode, outer: Visit): boolean {
  spend(outer.work, 1 + node.checks.length);
  const scope = node.resource === outer.scope.resource ? outer.scope : { resource: node.resource, outer: outer.scope };
  const seen = node.collects ? createSeen() : outer.seen;
  const visit = { ...outer, scope, seen };
  return nested(outer.work, () => {
    let valid = true;
    for (const check of node.checks) {
      if (check(visit)) continue;
      valid = false;
      if (visit.problems === undefined || isFull(visit.problems)) break;
    }
    if (valid && node.collects) addSeen(visit, outer.seen);
    return valid;
  });
}

export function isValidChild(node: SchemaNode, visit: Visit, key: string | number, value: JsonValue): boolean {
  return isValid(node, { ...visit, value, place: { outer: visit.place, key }, seen: undefined });
}

/** Reports whether a value fulfils a schema that it need not fulfil. Its problems are not told. */
export function isValidAlone(node: SchemaNode, visit: Visit): boolean {
  return isValidBranch(node, { ...visit, problems: undefined });
}

/** Does the same, and tells its problems. What it has looked at counts only if it is valid. */
export function isValidBranch(node: SchemaNode, visit: Visit): boolean {
  if (visit.seen === undefined) return isValid(node, visit);
  const branch = { ...visit, seen: createSeen() };
  if (!isValid(node, branch)) return false;
  addSeen(branch, visit.seen);
  return true;
}

/** Tells a problem, and returns false. */
export function fails({ place, problems }: Visit, keyword: string, description: string): false {
  if (problems !== undefined && !isFull(problems)) problems.list.push({ place, keyword, description });
  return false;
}

function isFull({ list, max }: Problems): boolean {
  return list.length >= max;
}

function createSeen(): Seen {
  return { properties: new Set(), items: new Set() };
}

function addSeen({ seen, work }: Visit, to: Seen | undefined): void {
  if (seen === undefined || to === undefined) return;
  spend(work, seen.properties.size + seen.items.size);
  for (const name of seen.properties) to.properties.add(name);
  for (const index of seen.items) to.items.add(index);
}
