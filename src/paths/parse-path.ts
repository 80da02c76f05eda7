// Paths name resources: `/orgs/acme/members/alice`. One grammar serves REST variables, RPC fields and `_path` fields:
//
//   path      = [ "/" ] pair { "/" pair }
//   pair      = collection "/" reference          ; the collections are those of the expected pattern
//   reference = name | "@" id | "-"               ; after percent-decoding, once
//   name      = alnum [ { alnum | "-" } alnum ]   ; 1 to 64 of a-z 0-9 -, not shaped like a UUID
//             | letter { letter | digit | "_" }   ; 1 to 63, in collections whose names are keys in maps as well
//   id        = a UUID
//
// `-` stands for all resources of its kind (AIP-159). Because no name holds "%", "/" or "@", every path has exactly one
// interpretation, however it was encoded in transit.
import { type FieldViolation, invalidFields } from "../errors/service-error.ts";
import { describeForms } from "./describe-forms.ts";
import {
  type PathPattern,
  type SingletonType,
  describePattern,
  hasIdentifierNames,
  sharesIds,
  singletonPath,
  singular,
} from "./patterns.ts";

/** One level of a path: a resource by name, by id, or all of them. */
export type Reference =
  | { readonly by: "name"; readonly value: string }
  /** `shown` is the name that the request used, if it is known to be the resource's. */
  | { readonly by: "id"; readonly value: string; readonly shown?: string }
  | { readonly by: "any" };

export type OneReference = Exclude<Reference, { readonly by: "any" }>;

/** One reference for each collection of the pattern. */
export type References<Pattern extends PathPattern> = { readonly [Level in keyof Pattern]: Reference };

/**
 * Where `-` is allowed:
 * - `nowhere`;
 * - `above-id`: only if an id after it still identifies one resource, as in `orgs/-/members/@<id>`;
 * - `last-in-org`: only at the end, below one org, as in `orgs/acme/groups/-`;
 * - `anywhere`: the path selects a set.
 */
export type Wildcards = "nowhere" | "above-id" | "last-in-org" | "anywhere";

/** The maximum length of a path. The deepest path with percent-encoded ids is well below. */
const maxLength = 1024;

const namePattern = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const identifierPattern = /^[a-z][a-z0-9_]{0,62}$/;
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isName(text: string): boolean {
  return namePattern.test(text) && !uuidPattern.test(text);
}

/**
 * Parses `text` as a path of `pattern`.
 *
 * @param field the field of the request that holds the path, for errors.
 * @throws ServiceError PATH_INVALID that says which segment breaks which rule.
 */
export function parseResourcePath<const Pattern extends PathPattern>(
  pattern: Pattern,
  text: string,
  field: string,
  wildcards: Wildcards = "nowhere",
): References<Pattern> {
  const fail = (description: string): never => {
    throw pathError(field, description);
  };
  if (text.length > maxLength) fail(`must be at most ${maxLength} characters long`);
  if (pattern.length === 0 && text !== "") fail(`must be empty, got ${quote(text)}`);
  const segments = (text.startsWith("/") ? text.slice(1) : text).split("/");
  if (segments.length !== pattern.length * 2) {
    fail(`must have the form ${describePattern(pattern)}, got ${quote(text)}`);
  }
  const references: Reference[] = [];
  pattern.forEach((collection, level) => {
    const position = level * 2;
    const found = segments[position] ?? "";
    if (found !== collection) {
      fail(
        `must have the form ${describePattern(pattern)}: segment ${position + 1} must be "${collection}", got ${quote(found)}`,
      );
    }
    references.push(parseReference(segments[position + 1] ?? "", collection, position + 2, fail));
  });
  checkWildcards(pattern, references, wildcards, fail);
  return references as unknown as References<Pattern>;
}

export interface AnyPath {
  readonly pattern: PathPattern;
  readonly references: readonly Reference[];
}

/**
 * Parses `text` as a path of one of several patterns, no two of which have the same collections. An empty pattern stands for
 * the platform as a whole.
 *
 * @throws ServiceError PATH_INVALID, as `parseResourcePath` does.
 */
export function parseAnyPath(
  patterns: readonly PathPattern[],
  text: string,
  field: string,
  wildcards: Wildcards = "nowhere",
): AnyPath {
  const [only] = patterns;
  const isOnly = patterns.length === 1 && only !== undefined && only.length > 0;
  const pattern = isOnly ? only : patterns.find((each) => fits(each, text));
  if (pattern === undefined) {
    throw pathError(field, `${describeForms(patterns, text.slice(0, maxLength))}, got ${quote(text)}`);
  }
  if (pattern.length === 0) return { pattern, references: [] };
  return { pattern, references: parseResourcePath(pattern, text, field, wildcards) };
}

/**
 * Parses `text` as the path of a singleton of one of several parents: `/orgs/acme/quota`. Returns the path of the parent.
 *
 * @throws ServiceError PATH_INVALID, as `parseResourcePath` does.
 */
export function parseSingletonPath(
  type: SingletonType,
  parents: readonly PathPattern[],
  text: string,
  field: string,
): AnyPath {
  const suffix = singletonPath(type, "");
  const parent = text.endsWith(suffix) ? text.slice(0, -suffix.length) : "";
  if (!parents.some((pattern) => fits(pattern, parent))) {
    const forms = parents.map((pattern) => singletonPath(type, describePattern(pattern))).join(", ");
    throw pathError(field, `must have one of the forms ${forms}, got ${quote(text)}`);
  }
  return parseAnyPath(parents, parent, field);
}

function fits(pattern: PathPattern, text: string): boolean {
  if (pattern.length === 0) return text === "" || text === "/";
  const segments = text.slice(0, maxLength).replace(/^\//, "").split("/");
  return (
    segments.length === pattern.length * 2 && pattern.every((collection, level) => segments[level * 2] === collection)
  );
}

function parseReference(
  raw: string,
  collection: string,
  position: number,
  fail: (description: string) => never,
): Reference {
  const segment = raw.includes("%") ? decodeSegment(raw, position, fail) : raw;
  if (segment === "-") return { by: "any" };
  if (segment.startsWith("@")) {
    const id = segment.slice(1).toLowerCase();
    if (uuidPattern.test(id)) return { by: "id", value: id };
    return fail(`segment ${position} must be @ and a UUID, got ${quote(segment)}`);
  }
  const isIdentifier = hasIdentifierNames(collection);
  if (isIdentifier ? identifierPattern.test(segment) : isName(segment)) return { by: "name", value: segment };
  const what = `segment ${position}, the ${singular(collection)},`;
  if (segment === "") return fail(`${what} must not be empty`);
  if (uuidPattern.test(segment.toLowerCase())) {
    return fail(`${what} looks like an id; write it with a leading @: @${segment.toLowerCase()}`);
  }
  const rule = isIdentifier
    ? "1 to 63 lowercase letters, digits and underscores, with a letter first"
    : "1 to 64 lowercase letters, digits and dashes, with a letter or digit at both ends";
  return fail(`${what} must be a name (${rule}) or @<id>, got ${quote(segment)}`);
}

function decodeSegment(raw: string, position: number, fail: (description: string) => never): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    return fail(`segment ${position} has invalid percent-encoding: ${quote(raw)}`);
  }
}

function checkWildcards(
  pattern: PathPattern,
  references: readonly Reference[],
  wildcards: Wildcards,
  fail: (description: string) => never,
): void {
  const lastAny = references.findLastIndex((reference) => reference.by === "any");
  if (lastAny === -1 || wildcards === "anywhere") return;
  const firstAny = references.findIndex((reference) => reference.by === "any");
  if (wildcards === "last-in-org" && pattern[0] === "orgs" && firstAny > 0 && firstAny === pattern.length - 1) return;
  const refused = wildcards === "last-in-org" ? firstAny : lastAny;
  const position = refused * 2 + 2;
  if (wildcards === "nowhere" || wildcards === "last-in-org") {
    fail(`segment ${position} must name one ${singular(pattern[refused] ?? "")}: "-" stands for all of them`);
  }
  const idBelow = references.findIndex((reference, level) => level > lastAny && reference.by === "id");
  if (idBelow === -1) fail(`segment ${position}: "-" is allowed only before an id in a later segment, written @<id>`);
  if (sharesIds(pattern.slice(0, idBelow + 1))) {
    fail(
      `segment ${position}: "-" is not allowed before the id of a member or subgroup, which can be in several groups`,
    );
  }
}

function pathError(field: string, description: string): Error {
  const violation: FieldViolation = { field, description, rule: "path" };
  return invalidFields([violation], "PATH_INVALID");
}

/** Quotes untrusted text, shortened, for a message. */
function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
