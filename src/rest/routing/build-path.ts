import type { PathSegment, PathTemplate, PathVariable } from "./path-template.ts";

/** Makes the path that the variables' values stand for; undefined when one does not fit its pattern. */
type PathBuilder = (values: readonly string[]) => string | undefined;

/**
 * Compiles the inverse of matching: a path that the template matches again with the same values, which come in the
 * order of `template.variables` and are decoded as a match gives them.
 *
 * A variable of one segment is encoded in full. One of several keeps its slashes, and `%2F` and `%2f` in it, since
 * these were left encoded (http.proto, "Path template syntax"). Wildcards outside of variables, whose text nobody
 * knows, are written as "*" and "**", which they match.
 */
export function compilePathBuilder(template: PathTemplate): PathBuilder {
  const { segments, variables, verb } = template;
  const suffix = verb === "" ? "" : `:${encodeReadably(verb).replaceAll("%3A", ":")}`;
  const pieces = variables.map((variable, index) => {
    const covered = segments.slice(variable.start, variable.end);
    const encode = variable.single ? encodeSingle : encodeSeveral;
    // What stands between the variable before and this one.
    const before = segments.slice(variables[index - 1]?.end ?? 0, variable.start).map(writeUncaptured);
    return { before, encode: (value: string) => encode(covered, value) };
  });
  const after = segments.slice(endOf(variables)).map(writeUncaptured);

  return (values) => {
    const path: string[] = [];
    for (const [index, { before, encode }] of pieces.entries()) {
      // Half of a surrogate pair is no text, and there is no encoding for it.
      const value = values[index];
      const encoded = value?.isWellFormed() === true ? encode(value) : undefined;
      if (encoded === undefined) return undefined;
      path.push(...before, ...encoded);
    }
    return `/${[...path, ...after].join("/")}${suffix}`;
  };
}

function endOf(variables: readonly PathVariable[]): number {
  return variables.at(-1)?.end ?? 0;
}

function writeUncaptured(segment: PathSegment): string {
  return segment.kind === "literal" ? encodeReadably(segment.value) : segment.kind;
}

/** The segments of the path that stand for a value; undefined when it does not fit. */
type ValueEncoder = (covered: readonly PathSegment[], value: string) => string[] | undefined;

const encodeSingle: ValueEncoder = ([segment], value) => {
  const fits = segment?.kind === "literal" ? value === segment.value : value !== "";
  return fits ? [encodeURIComponent(value)] : undefined;
};

const encodeSeveral: ValueEncoder = (covered, value) => {
  // Nothing at all is what "**" alone takes; elsewhere it is one segment that is empty.
  const parts = value === "" && covered.length === 1 ? [] : value.split("/");
  const extra = parts.length - covered.length;
  const deep = covered.findIndex((segment) => segment.kind === "**");
  if (deep === -1 ? extra !== 0 : extra < -1) return undefined;
  const encoded = parts.map((part, index) => {
    if (deep === -1 || index < deep) return encodePart(covered[index], part);
    return index <= deep + extra ? encodeKeepingSlashes(part) : encodePart(covered[index - extra], part);
  });
  return encoded.every((part) => part !== undefined) ? encoded : undefined;
};

function encodePart(segment: PathSegment | undefined, part: string): string | undefined {
  if (segment?.kind === "literal") return encodeLiteral(segment.value, part);
  return part === "" ? undefined : encodeKeepingSlashes(part);
}

function encodeKeepingSlashes(part: string): string {
  return part
    .split(/(%2F)/i)
    .map((piece) => (/^%2F$/i.test(piece) ? piece : encodeURIComponent(piece)))
    .join("");
}

/** A literal that holds a slash has its `%2F` left in the value, in either case; all else of it is decoded there. */
function encodeLiteral(literal: string, part: string): string | undefined {
  let encoded = "";
  let at = 0;
  for (const character of literal) {
    const given = part.slice(at, at + (character === "/" ? "%2F" : character).length);
    const isSlash = character === "/" && given.toUpperCase() === "%2F";
    if (!isSlash && given !== character) return undefined;
    encoded += isSlash ? given : encodeReadably(character);
    at += given.length;
  }
  return at === part.length ? encoded : undefined;
}

/** Leaves the characters bare that a template may hold bare, except ":", which can start a verb. */
function encodeReadably(text: string): string {
  return encodeURIComponent(text).replaceAll(/%(?:24|26|2B|2C|3B|3D|40)/g, decodeURIComponent);
}
