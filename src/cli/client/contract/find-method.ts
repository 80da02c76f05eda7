// Finds the method that a verb and a path mean.
import { CommandError } from "../command-error.ts";
import { didYouMean, fold, nearest } from "../arguments/nearest.ts";
import type { Contract, Method } from "./contract.ts";
import { kebab, singular, withArticle } from "./names.ts";

/** What paths without a leading slash are relative to. */
export interface PathContext {
  readonly org: string | undefined;
  readonly project: string | undefined;
}

export interface FoundMethod {
  readonly method: Method;
  /** The segments of the path that the address has: those of the collection for a creation. */
  readonly segments: readonly string[];
  /** The name of what is created, if the path has it. */
  readonly newName: string | undefined;
}

/** Returns the verbs of all methods, as they are typed: `revoke-tokens`. */
export function verbsOf({ methods }: Contract): readonly string[] {
  return [...new Set(methods.map(({ verb }) => kebab(verb)))];
}

/** Returns the methods of a verb, whether it is typed as `revoke-tokens` or `revokeTokens`. */
export function methodsOfVerb({ methods }: Contract, verb: string): readonly Method[] {
  return methods.filter((each) => fold(each.verb) === fold(verb));
}

/**
 * Returns the method that a path means. A path without a leading slash is below the project or the org of the context if something there
 * has such a path, and else below the platform.
 *
 * @throws CommandError that names what is there instead.
 */
export function findMethod(contract: Contract, verb: string, path: string, context: PathContext): FoundMethod {
  const given = splitPath(path);
  for (const prefix of prefixesOf(path, context)) {
    const found = methodAt(contract, verb, [...prefix, ...given]);
    if (found !== undefined) return found;
  }
  const isFromRoot =
    path.startsWith("/") && context.org !== undefined && beginLike(contract, given.slice(0, 1)).length === 0;
  if (isFromRoot) {
    throw new CommandError(`a path that begins with / is not below --org: there is no /${given.join("/")}`, {
      next: `tenantry ${verb} ${given.join("/")}`,
    });
  }
  throw explain(contract, verb, given, context);
}

/** Returns the method of a verb at a path from the platform on; undefined if there is none. */
export function methodAt(contract: Contract, verb: string, segments: readonly string[]): FoundMethod | undefined {
  for (const method of methodsOfVerb(contract, verb)) {
    const found = match(method, segments);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Returns the segments of a path.
 *
 * @throws CommandError if one is empty, or would mean another path in an address.
 */
export function splitPath(path: string): readonly string[] {
  const text = path.replace(/^\//, "").replace(/\/$/, "");
  if (text === "") return [];
  const segments = text.split("/");
  for (const segment of segments) {
    if (/^\.{0,2}$/.test(segment)) {
      throw new CommandError(`the path ${JSON.stringify(path)} has an empty segment, or one of dots`);
    }
  }
  return segments;
}

/** Returns the segments that a path may be below, the nearest first. */
export function prefixesOf(path: string, { org, project }: PathContext): readonly (readonly string[])[] {
  if (path.startsWith("/") || org === undefined) return [[]];
  const inOrg = ["orgs", org];
  return project === undefined ? [inOrg, []] : [[...inOrg, "projects", project], inOrg, []];
}

/** Writes segments as the address of a call. */
export function addressOf({ base, suffix }: Pick<Method, "base" | "suffix">, segments: readonly string[]): string {
  const encode = (segment: string): string => encodeURIComponent(segment).replaceAll("%40", "@");
  return `${base}${segments.map(encode).join("/")}${suffix}`;
}

function match(method: Method, segments: readonly string[]): FoundMethod | undefined {
  const pattern = method.path.split("/");
  const isNew = method.verb === "create" && segments.length === pattern.length + 1;
  if (segments.length !== pattern.length && !isNew) return undefined;
  const known = segments.slice(0, pattern.length);
  if (!known.every((segment, index) => matches(pattern[index] ?? "", segment))) return undefined;
  return {
    method,
    segments: known.map((segment, index) => (pattern[index] === "*" ? segment : (pattern[index] ?? segment))),
    newName: isNew ? segments.at(-1) : undefined,
  };
}

function matches(pattern: string, segment: string): boolean {
  return pattern === "*" || fold(pattern) === fold(segment);
}

/** Returns the patterns of all paths that begin like some segments, up to where they do. */
function beginLike(contract: Contract, segments: readonly string[]): readonly (readonly string[])[] {
  const all = [...new Set(contract.methods.map(({ path }) => path))].map((path) => path.split("/"));
  return all.filter((pattern) => {
    return pattern.length >= segments.length && segments.every((each, index) => matches(pattern[index] ?? "", each));
  });
}

function explain(contract: Contract, verb: string, given: readonly string[], context: PathContext): CommandError {
  const inOrg = context.org === undefined ? [] : ["orgs", context.org];
  const isBelowPlatform = beginLike(contract, given.slice(0, 1)).length > 0;
  const segments = isBelowPlatform ? given : [...inOrg, ...given];
  const shown = segments.join("/");
  for (let length = 1; length <= segments.length; length++) {
    if (beginLike(contract, segments.slice(0, length)).length > 0) continue;
    return unknownCollection(contract, verb, { segments, index: length - 1, context });
  }
  const here = contract.methods.filter((method) => match(method, segments) !== undefined);
  const verbs = [...new Set(here.map((each) => kebab(each.verb)))];
  const collections = collectionsBelow(contract, segments);
  const command = (other: string): string => `tenantry ${other} ${shown}`;
  if (verbs.length === 0) {
    const hint = collections.length === 0 ? "" : `; below it are ${collections.join(", ")}`;
    return new CommandError(`nothing can be done with ${shown || "the platform"}${hint}`, {
      next: collections[0] === undefined ? undefined : `tenantry list ${shown}/${collections[0]}`,
    });
  }
  const isCollection = verbs.includes("list");
  // What there is one of, such as the quota of an org, is named by the last segment.
  const named = segments.at(segments.length % 2 === 0 ? -2 : -1) ?? "";
  const noun = isCollection ? "a collection" : withArticle(kebab(singular(named)));
  const other = verb === "get" && isCollection ? "list" : (nearest(verb, verbs) ?? verbs[0]);
  const below = verb === "list" && collections[0] !== undefined ? `${command("list")}/${collections[0]}` : undefined;
  return new CommandError(`${shown} is ${noun} and has no ${verb}; it has ${verbs.join(", ")}`, {
    next: below ?? (other && command(other)),
  });
}

/** A path, and where it stops to be like any that there is. */
interface Unknown {
  readonly segments: readonly string[];
  readonly index: number;
  readonly context: PathContext;
}

/** Says that what stands at some place is no collection. */
function unknownCollection(
  contract: Contract,
  verb: string,
  { segments, index, context: { org } }: Unknown,
): CommandError {
  const before = segments.slice(0, index);
  const known = collectionsBelow(contract, before);
  const word = segments[index] ?? "";
  const meant = nearest(word, known);
  const place = before.length === 0 ? "" : ` below ${before.join("/")}`;
  const needsOrg =
    index === 0 &&
    org === undefined &&
    collectionsBelow(contract, ["orgs", "*"]).some((each) => fold(each) === fold(word));
  if (needsOrg)
    return new CommandError(`${word} are below an org: give it with --org, or write orgs/ORG/${segments.join("/")}`);
  const list = known.length === 0 ? "nothing is" : `there are ${known.join(", ")}`;
  return new CommandError(`there is no ${JSON.stringify(word)}${place}: ${list}${didYouMean(word, known)}`, {
    next:
      meant === undefined
        ? nextInOrg(contract, verb, segments)
        : nextOf(contract, verb, segments.with(index, meant), index + 1),
  });
}

/** Returns the same command in the org that a name at the beginning may mean. */
function nextInOrg(contract: Contract, verb: string, segments: readonly string[]): string | undefined {
  const path = ["orgs", ...segments];
  return methodAt(contract, verb, path) === undefined ? undefined : `tenantry ${kebab(verb)} ${path.join("/")}`;
}

/** Returns the same command with a path that was put right, or what lists the collection in it, if that is wrong behind it as well. */
function nextOf(contract: Contract, verb: string, segments: readonly string[], length: number): string {
  const isRight = methodAt(contract, verb, segments) !== undefined;
  return isRight
    ? `tenantry ${kebab(verb)} ${segments.join("/")}`
    : `tenantry list ${segments.slice(0, length).join("/")}`;
}

/** Returns the collections that paths can have below some segments. */
export function collectionsBelow(contract: Contract, segments: readonly string[]): readonly string[] {
  const next = beginLike(contract, segments).flatMap((pattern) => pattern[segments.length] ?? []);
  return [...new Set(next)].filter((each) => each !== "*");
}
