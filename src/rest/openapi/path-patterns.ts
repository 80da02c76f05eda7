// Regular expressions for the paths of resources, from the patterns of google.api.resource. They are in ECMA-262, without anchors.
import { type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import { resource_reference } from "../../../gen/google/api/resource_pb.ts";
import type { Schema } from "./openapi-document.ts";

/** What may be in place of a variable of a pattern: a name or an id of a resource. */
export interface Segment {
  readonly pattern: string;
  /** What it may not be although it matches `pattern`. */
  readonly except?: string;
}

/** What texts in requests look like, which descriptors do not say. */
export interface TextPatterns {
  /**
   * Returns what may be in place of the variable of a resource of a type; by default, anything without a slash.
   *
   * @param takesAny whether a wildcard may be in its place (AIP-159).
   */
  readonly segmentPattern: (type: string, takesAny: boolean) => Segment;
  /** Returns the pattern of a field of a request; undefined for that of the paths of a type, and of any other text. */
  readonly fieldPattern: (field: DescField) => string | undefined;
}

/** What may be in a segment of which nothing is known. */
const anySegment = "[^/]+";

export interface PathPatterns {
  /** Returns the keywords of one segment: of the last variable of a (part of a) pattern such as `orgs/{org}`. */
  readonly ofVariable: (pattern: string, takesAny: boolean) => Schema;
  /** Returns the keywords of a field with a pattern or a `google.api.resource_reference`; undefined for other fields. */
  readonly ofField: (field: DescField) => Schema | undefined;
}

export function createPathPatterns(
  patterns: ReadonlyMap<string, readonly string[]>,
  { segmentPattern = () => ({ pattern: anySegment }), fieldPattern = () => undefined }: Partial<TextPatterns>,
): PathPatterns {
  const types = new Map([...patterns].flatMap(([type, each]) => each.map((pattern) => [shapeOf(pattern), type])));

  function segmentAt(pattern: string, takesAny: boolean): Segment {
    const type = types.get(shapeOf(pattern));
    return type === undefined ? { pattern: anySegment } : segmentPattern(type, takesAny);
  }

  /**
   * Returns the expression of a whole path, and what its segments may not be. If the resource has no name but only an id, which is
   * unique, any parent may be `-`.
   */
  function ofPattern(pattern: string): { readonly expression: string; readonly except: readonly string[] } {
    const parts = pattern.split("/");
    const last = parts.length - 1;
    const hasIdOnly = segmentAt(pattern, false).pattern.startsWith("@");
    const segments = parts.map((part, at): Segment => {
      if (!part.startsWith("{")) return { pattern: part };
      const segment = segmentAt(parts.slice(0, at + 1).join("/"), hasIdOnly && at < last);
      return { ...segment, pattern: `(${segment.pattern})` };
    });
    const except = segments.flatMap((segment) => segment.except ?? []);
    return { expression: segments.map((segment) => segment.pattern).join("/"), except };
  }

  return {
    ofVariable(pattern, takesAny) {
      const segment = segmentAt(pattern, takesAny);
      return {
        pattern: `^(${segment.pattern})$`,
        ...(segment.except !== undefined && { not: { pattern: `^(${segment.except})$` } }),
      };
    },
    ofField(field) {
      const own = fieldPattern(field);
      if (own !== undefined) return { pattern: own };
      if (!hasOption(field, resource_reference)) return undefined;
      const { type, childType } = getOption(field, resource_reference);
      // The paths of resources of other services continue those of this one.
      if (type === "*") return { pattern: String.raw`^/?$|^/?[^/\s]+(/[^/\s]+)*$` };
      const known = patterns.get(type || childType) ?? [];
      const paths = [...new Set(childType === "" ? known : known.map(parentOf))];
      if (paths.length === 0) return undefined;
      const whole = paths.filter((path) => path !== "").map(ofPattern);
      const expressions = whole.map(({ expression }) => `^/?${expression}$`);
      const except = [...new Set(whole.flatMap((each) => each.except))];
      return {
        pattern: [...(paths.includes("") ? ["^/?$"] : []), ...expressions].join("|"),
        ...(except.length > 0 && { not: { pattern: `(^|/)(${except.join("|")})(/|$)` } }),
      };
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
