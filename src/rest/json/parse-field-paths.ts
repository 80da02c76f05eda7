import { invalidFields, quote } from "../errors/rest-error.ts";

/** One segment of a field path: a field name, a map key, or `*`, which is a wildcard unless it is quoted. */
export interface PathSegment {
  readonly name: string;
  readonly isWildcard: boolean;
}

const mostPaths = 100;
const mostLevels = 16;

/**
 * Parses the paths of a partial response. Map keys that are not plain are quoted as in AIP-161:
 *
 * ```
 * paths   = path { "," path }
 * path    = segment { "." segment }
 * segment = "*" | plain | quoted
 * plain   = one or more characters other than "." and ",", not starting with "`"
 * quoted  = "`" { any character but "`" | "``" } "`"
 * ```
 *
 * @throws RestError FIELD_INVALID for `fields` if the text does not match this grammar, has more than 100 paths, or has a
 *   path of more than 16 segments.
 */
export function parseFieldPaths(text: string): PathSegment[][] {
  const paths: PathSegment[][] = [[]];
  let at = 0;
  for (;;) {
    const path = paths.at(-1) ?? [];
    if (path.length === mostLevels) refuseFields(`must have at most ${mostLevels} levels in each path`);
    const { segment, end } = text[at] === "`" ? readQuoted(text, at) : readPlain(text, at);
    path.push(segment);
    if (end === text.length) return paths;
    if (text[end] === "," && paths.push([]) > mostPaths) refuseFields(`must be at most ${mostPaths} paths`);
    at = end + 1;
  }
}

/** Throws FIELD_INVALID for `fields`. The description continues after the name of the parameter. */
export function refuseFields(description: string): never {
  throw invalidFields([{ field: "fields", description }]);
}

interface ReadSegment {
  readonly segment: PathSegment;
  /** The offset after the segment: that of a "." or ",", or the length of the text. */
  readonly end: number;
}

function readPlain(text: string, start: number): ReadSegment {
  let end = start;
  while (end < text.length && text[end] !== "." && text[end] !== ",") end++;
  if (end === start) refuseSyntax(text, start);
  const name = text.slice(start, end);
  return { segment: { name, isWildcard: name === "*" }, end };
}

function readQuoted(text: string, start: number): ReadSegment {
  let name = "";
  let at = start + 1;
  for (;;) {
    const close = text.indexOf("`", at);
    if (close === -1) refuseSyntax(text, start);
    name += text.slice(at, close);
    at = close + 1;
    if (text[at] !== "`") break;
    name += text[at++];
  }
  if (at < text.length && text[at] !== "." && text[at] !== ",") refuseSyntax(text, at);
  return { segment: { name, isWildcard: false }, end: at };
}

function refuseSyntax(text: string, at: number): never {
  const rest = at === text.length ? "the end" : quote(text.slice(at));
  return refuseFields(`must be comma-separated field paths such as name,labels.env or *, got ${rest} at ${at}`);
}
