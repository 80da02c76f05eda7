// Paths of fields, in partial responses (AIP-157) and in field masks (AIP-161).

/** One segment of a field path: a field name, a map key, or `*`, which is a wildcard unless it is quoted. */
export interface PathSegment {
  readonly name: string;
  readonly isQuoted: boolean;
}

export type FieldPath = readonly PathSegment[];

/**
 * Splits field paths. Map keys that are not plain are quoted as in AIP-161:
 *
 * ```
 * paths   = path { "," path }
 * path    = segment { "." segment }
 * segment = plain | quoted
 * plain   = one or more characters other than "." and ",", not starting with "`"
 * quoted  = "`" { any character but "`" | "``" } "`"
 * ```
 *
 * @returns the offset of what does not match this grammar, if there is such a thing.
 */
export function splitFieldPaths(text: string): FieldPath[] | number {
  const paths: PathSegment[][] = [[]];
  let at = 0;
  for (;;) {
    const read = text[at] === "`" ? readQuoted(text, at) : readPlain(text, at);
    if (typeof read === "number") return read;
    paths.at(-1)?.push(read.segment);
    if (read.end === text.length) return paths;
    if (text[read.end] === ",") paths.push([]);
    at = read.end + 1;
  }
}

export const isWildcard = ({ name, isQuoted }: PathSegment): boolean => name === "*" && !isQuoted;

/** A part of a field path that names a field: `display_name`, or in JSON `displayName`. */
const fieldName = /^[A-Za-z_]\w*$/;

/** A key of a map that stands in a mask as it is. Others are quoted. */
const plainKey = /^[\w/-]+$/;

/**
 * Splits the path of a field mask: `*`, or a field name, which the names of fields or a key of a map follow.
 *
 * @returns undefined if the text is no such path, or more than one.
 */
export function splitMaskPath(text: string): FieldPath | undefined {
  const paths = splitFieldPaths(text);
  if (typeof paths === "number" || paths.length !== 1) return undefined;
  const [path = []] = paths;
  return isMaskPath(path) ? path : undefined;
}

/**
 * Splits the paths of a field mask in a text. A part that can only be a key of a map is kept as it is.
 *
 * @param names whether fields have the names of JSON, such as `displayName`, or either those or the names of Protobuf.
 * @returns the paths with names of Protobuf; undefined if the text is no mask, or if a name has an underscore that it cannot have: in
 *   JSON any, and otherwise one beside a capital.
 */
export function readMask(text: string, names: "JSON" | "any" = "any"): string[] | undefined {
  if (text === "") return [];
  const paths = splitFieldPaths(text);
  if (typeof paths === "number" || !paths.every(isMaskPath)) return undefined;
  // Two patterns: one for both would take the square of the length of a name.
  const isMisnamed = (name: string): boolean => name.includes("_") && (names === "JSON" || /[A-Z]/.test(name));
  if (paths.flat().some((segment) => isName(segment) && isMisnamed(segment.name))) return undefined;
  return paths.map((path) =>
    formatPath(path, (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  );
}

/**
 * Writes the paths of a field mask as `readMask` reads them, with the names of JSON.
 *
 * @throws Error that names a path that would be read as another one, or as several: JSON has no name for `a__b`, for instance.
 */
export function writeMask(paths: readonly string[]): string {
  return paths.map(writeMaskPath).join(",");
}

function writeMaskPath(path: string): string {
  const segments = splitMaskPath(path) ?? [];
  const text = formatPath(segments, (name) => name.replaceAll(/_[a-z]/g, (part) => part.charAt(1).toUpperCase()));
  if (text === "" || readMask(text, "JSON")?.[0] !== path) {
    throw new Error(`the path ${JSON.stringify(path)} of a google.protobuf.FieldMask has no form in JSON`);
  }
  return text;
}

const isName = ({ name, isQuoted }: PathSegment): boolean => !isQuoted && fieldName.test(name);

function isMaskPath([first, ...rest]: FieldPath): boolean {
  if (first === undefined || first.isQuoted) return false;
  if (first.name === "*") return rest.length === 0;
  return fieldName.test(first.name) && rest.every(({ name, isQuoted }) => isQuoted || plainKey.test(name));
}

function formatPath(path: FieldPath, nameOf: (name: string) => string): string {
  return path
    .map((segment) => {
      if (segment.isQuoted) return quoteKey(segment.name);
      return isName(segment) ? nameOf(segment.name) : segment.name;
    })
    .join(".");
}

/** Returns a key of a map as a path has it. */
export function quoteKey(key: string): string {
  return `\`${key.replaceAll("`", "``")}\``;
}

interface ReadSegment {
  readonly segment: PathSegment;
  /** The offset after the segment: that of a "." or ",", or the length of the text. */
  readonly end: number;
}

function readPlain(text: string, start: number): ReadSegment | number {
  let end = start;
  while (end < text.length && text[end] !== "." && text[end] !== ",") end++;
  if (end === start) return start;
  return { segment: { name: text.slice(start, end), isQuoted: false }, end };
}

function readQuoted(text: string, start: number): ReadSegment | number {
  let name = "";
  let at = start + 1;
  for (;;) {
    const close = text.indexOf("`", at);
    if (close === -1) return start;
    name += text.slice(at, close);
    at = close + 1;
    if (text[at] !== "`") break;
    name += text[at++];
  }
  if (at < text.length && text[at] !== "." && text[at] !== ",") return at;
  return { segment: { name, isQuoted: true }, end: at };
}
