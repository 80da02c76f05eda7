import { invalidFields, quote } from "../errors/rest-error.ts";
import { type FieldPath, splitFieldPaths } from "../field-paths.ts";

const mostPaths = 100;
const mostLevels = 16;

/**
 * Parses the paths of a partial response, in the grammar of `field-paths.ts`.
 *
 * @throws RestError FIELD_INVALID for `fields` if the text does not match this grammar, has more than 100 paths, or has a
 *   path of more than 16 segments.
 */
export function parseFieldPaths(text: string): FieldPath[] {
  const paths = splitFieldPaths(text);
  if (typeof paths === "number") return refuseSyntax(text, paths);
  if (paths.length > mostPaths) refuseFields(`must be at most ${mostPaths} paths`);
  if (paths.some(({ length }) => length > mostLevels)) {
    refuseFields(`must have at most ${mostLevels} levels in each path`);
  }
  return paths;
}

/** Throws FIELD_INVALID for `fields`. The description continues after the name of the parameter. */
export function refuseFields(description: string): never {
  throw invalidFields([{ field: "fields", description }]);
}

function refuseSyntax(text: string, at: number): never {
  const rest = at === text.length ? "the end" : quote(text.slice(at));
  return refuseFields(`must be comma-separated field paths such as name,labels.env or *, got ${rest} at ${at}`);
}
