import type { PathSegment, PathTemplate, PathVariable } from "./path-template.ts";

/** Builds the path for the values of the variables. Returns undefined if a value does not match its pattern. */
type PathBuilder = (values: readonly string[]) => string | undefined;

/**
 * Compiles the inverse of matching. The built path matches the template with the same values, which are in the order of
 * `template.variables` and decoded as in a match.
 *
 * A variable of one segment is encoded completely. A variable of several segments keeps its slashes, and also `%2F` and
 * `%2f`, since matching leaves these encoded (http.proto, "Path template syntax"). Wildcards outside of variables, whose
 * text is unknown, are written as "*" and "**", which they match.
 */
export function compilePathBuilder(template: PathTemplate): PathBuilder {
  const { segments, variables, verb } = template;
  const suffix = verb === "" ? "" : `:${encodeReadably(verb).replaceAll("%3A", ":")}`;
  const pieces = variables.map((variable, index) => {
    const covered = segments.slice(variable.start, variable.end);
    const encode = variable.single ? encodeSingle : encodeSeveral;
    // The segments between the previous variable and this one.
    const before = segments.slice(variables[index - 1]?.end ?? 0, variable.start).map(writeUncaptured);
    return { before, encode: (value: string) => encode(covered, value) };
  });
  const after = segments.slice(endOf(variables)).map(writeUncaptured);

  return (values) => {
    const path: string[] = [];
    for (const [index, { before, encode }] of pieces.entries()) {
      // A lone surrogate cannot be encoded.
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

/** Encodes a value as segments of the path. Returns undefined if the value does not match. */
type ValueEncoder = (covered: readonly PathSegment[], value: string) => string[] | undefined;

const encodeSingle: ValueEncoder = ([segment], value) => {
  const fits = segment?.kind === "literal" ? value === segment.value : value !== "";
  return fits ? [encodeURIComponent(value)] : undefined;
};

const encodeSeveral: ValueEncoder = (covered, value) => {
  // An empty value means zero segments for a single "**"; otherwise it is one empty segment.
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

/** Encodes a part that must equal a literal. A slash in the literal is `%2F` or `%2f` in the part; the rest is decoded. */
function encodeLiteral(literal: string, part: string): string | undefined {
  if (!literal.includes("/")) return part === literal ? encodeReadably(literal) : undefined;
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

/** Encodes text, except for the characters that a template may contain unencoded. Encodes ":", which can start a verb. */
function encodeReadably(text: string): string {
  return encodeURIComponent(text).replaceAll(/%(?:24|26|2B|2C|3B|3D|40)/g, decodeURIComponent);
}
