// Regular expressions for the paths of resources, from the patterns of google.api.resource. They are in ECMA-262, without anchors.
import { type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import { resource_reference } from "../../../gen/google/api/resource_pb.ts";

/**
 * Returns what may be in place of a variable of a pattern: a name or an id of a resource of the type.
 *
 * @param takesAny whether a wildcard may be in its place (AIP-159).
 */
export type SegmentPattern = (type: string, takesAny: boolean) => string;

/** What may be in a segment of which nothing is known. */
export const anySegment = "[^/]+";

export interface PathPatterns {
  /** Returns the expression of one segment: of the last variable of a (part of a) pattern such as `orgs/{org}`. */
  readonly ofVariable: (pattern: string, takesAny: boolean) => string;
  /** Returns the anchored expression of a field with a `google.api.resource_reference`; undefined for other fields. */
  readonly ofField: (field: DescField) => string | undefined;
}

export function createPathPatterns(
  patterns: ReadonlyMap<string, readonly string[]>,
  segmentPattern: SegmentPattern,
): PathPatterns {
  const types = new Map([...patterns].flatMap(([type, each]) => each.map((pattern) => [shapeOf(pattern), type])));

  function ofVariable(pattern: string, takesAny: boolean): string {
    const type = types.get(shapeOf(pattern));
    return type === undefined ? anySegment : segmentPattern(type, takesAny);
  }

  /** If the resource has no name but only an id, which is unique, any parent may be `-`. */
  function ofPattern(pattern: string): string {
    const segments = pattern.split("/");
    const last = segments.length - 1;
    const hasIdOnly = ofVariable(pattern, false).startsWith("@");
    const expressions = segments.map((segment, at) =>
      segment.startsWith("{")
        ? `(${ofVariable(segments.slice(0, at + 1).join("/"), hasIdOnly && at < last)})`
        : segment,
    );
    return expressions.join("/");
  }

  return {
    ofVariable,
    ofField(field) {
      if (!hasOption(field, resource_reference)) return undefined;
      const { type, childType } = getOption(field, resource_reference);
      // The paths of resources of other services continue those of this one.
      if (type === "*") return String.raw`^/?$|^/?[^/\s]+(/[^/\s]+)*$`;
      const known = patterns.get(type || childType) ?? [];
      const paths = [...new Set(childType === "" ? known : known.map(parentOf))];
      if (paths.length === 0) return undefined;
      const expressions = paths.filter((path) => path !== "").map((path) => `^/?${ofPattern(path)}$`);
      return [...(paths.includes("") ? ["^/?$"] : []), ...expressions].join("|");
    },
  };
}

/** The path without the names of its variables. */
function shapeOf(pattern: string): string {
  return pattern.replaceAll(/\{[^}]*\}/g, "{}");
}

/** `orgs/{org}/members/{member}` → `orgs/{org}`, `orgs/{org}/quota` → `orgs/{org}` */
function parentOf(pattern: string): string {
  const segments = pattern.split("/");
  return segments.slice(0, segments.at(-1)?.startsWith("{") === true ? -2 : -1).join("/");
}
