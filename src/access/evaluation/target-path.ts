// Parses the path of the target of a check: a resource of this API, or a resource that another service keeps in a project, an
// org or a service of the catalog, such as `/orgs/acme/projects/web/instances/db-1`. What is in no customer, service or org, such
// as a kind or a predefined role, belongs to the platform as a whole, on which access to it is decided.
import { invalidFields } from "../../errors/service-error.ts";
import { type PathPattern, allPatterns, patterns } from "../../paths/patterns.ts";
import { type AnyPath, type Reference, parseAnyPath, parseResourcePath } from "../../paths/parse-path.ts";

/** A parsed path that is not resolved yet: a resource, the parent of a list, or something in an org or service that has no pattern. */
export interface TargetPath extends AnyPath {
  /** The text after the pattern, such as `/instances/db-1`; empty or absent if there is none. */
  readonly rest?: string;
}

const maxLength = 1024;

/** A segment of `rest`: the characters that URLs hold without encoding (RFC 3986, 2.3), `@` and `:`. */
const segmentPattern = /^[A-Za-z0-9._~@:-]{1,128}$/;

export const platform: TargetPath = { pattern: [], references: [] };

/** The first collections of all paths: `orgs`, `services`. */
const tops = [...new Set(allPatterns.map(([top]) => top))];

/**
 * @param text a path, with or without its leading slash; empty for the platform as a whole.
 * @param field the field of the request that holds the path, for errors.
 * @throws ServiceError PATH_INVALID
 */
export function parseTargetPath(text: string, field: string): TargetPath {
  const fail = (description: string): never => {
    throw invalidFields([{ field, description, rule: "path" }], "PATH_INVALID");
  };
  if (text.length > maxLength) fail(`must be at most ${maxLength} characters long`);
  const path = text.startsWith("/") ? text.slice(1) : text;
  const segments = path.split("/");
  if (path === "") return platform;
  const pattern = patternOf(segments);
  if (pattern === undefined) {
    const ofPlatform = allPatterns.filter(([top]) => top === segments[0]);
    if (ofPlatform.length === 0)
      return fail(`must be empty or start with ${tops.map((top) => `"/${top}/"`).join(", ")}`);
    parseAnyPath(ofPlatform, path, field);
    return platform;
  }
  const start = segments.slice(0, pattern.length * 2).join("/");
  const references = parseResourcePath(pattern, start, field);
  for (const [index, segment] of segments.entries()) {
    if (index < pattern.length * 2 || (segmentPattern.test(segment) && segment !== "." && segment !== "..")) continue;
    fail(`segment ${index + 1} must be 1 to 128 letters, digits and . _ ~ @ : - and neither . nor ..`);
  }
  return { pattern, references, rest: path.slice(start.length) };
}

/** Returns the pattern of the nearest customer, service, org or project in a path. */
function patternOf([top, , below, project]: readonly string[]): PathPattern | undefined {
  if (top === "customers") return patterns.Customer;
  if (top === "services") return patterns.Service;
  if (top !== "orgs") return undefined;
  return below === "projects" && project !== undefined ? patterns.Project : patterns.Org;
}

/** Reports whether a path names a service of the catalog, or something in it. */
export function isInService({ pattern }: TargetPath): boolean {
  return pattern[0] === patterns.Service[0];
}

export function orgIn({ pattern, references }: TargetPath): Reference | undefined {
  return pattern[0] === patterns.Org[0] ? references[0] : undefined;
}
