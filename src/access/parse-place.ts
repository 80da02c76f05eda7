// Reads where access is asked for from the path of anything: of a resource of ours, or of one that another service keeps in a
// project or org, `/orgs/acme/projects/web/instances/db-1`.
import { invalidFields } from "../errors/service-error.ts";
import { otherPatterns, patterns } from "../paths/patterns.ts";
import { type References, parseResourcePath } from "../paths/resource-path.ts";
import type { Place } from "./place.ts";

const maxLength = 1024;

/** One segment of what follows: what URLs hold without encoding (RFC 3986, 2.3), and `@` and `:`. */
const segmentPattern = /^[A-Za-z0-9._~@:-]{1,128}$/;

/**
 * @param text a path, with or without its slash; empty for the platform as a whole.
 * @param field the request's field that holds it; errors name it.
 * @throws ServiceError PATH_INVALID
 */
export function parsePlace(text: string, field: string): Place {
  const fail = (description: string): never => {
    throw invalidFields([{ field, description, rule: "path" }], "PATH_INVALID");
  };
  if (text.length > maxLength) fail(`must be at most ${maxLength} characters long`);
  const path = text.startsWith("/") ? text.slice(1) : text;
  const segments = path.split("/");
  const [top = "", , below = ""] = segments;
  if (path === "" || isOurs(segments)) return { kind: "platform" };
  if (top === "customers") {
    const [customer] = parseStart(patterns.Customer, path, segments, field);
    checkRest(segments, 2, fail);
    return { kind: "customer", customer };
  }
  if (top !== "orgs") {
    fail('must be empty or start with "/orgs/", "/customers/", "/roles/" or "/roleBindings/"');
  }
  if (below === "projects" && segments.length > 3) {
    const [org, project] = parseStart(patterns.Project, path, segments, field);
    checkRest(segments, 4, fail);
    return {
      kind: "org",
      org,
      project,
      isItself: segments.length === 4,
      isMany: false,
      rest: restOf(path, segments, 4),
    };
  }
  const [org] = parseStart(patterns.Org, path, segments, field);
  checkRest(segments, 2, fail);
  return {
    kind: "org",
    org,
    project: undefined,
    isItself: segments.length === 2,
    isMany: false,
    rest: restOf(path, segments, 2),
  };
}

const ours = new Set<string>([...otherPatterns.predefinedRole, ...otherPatterns.platformRoleBinding]);

/** Whether the path names something that belongs to the platform as a whole. */
function isOurs(segments: readonly string[]): boolean {
  return segments.length === 2 && ours.has(segments[0] ?? "");
}

function parseStart<const Pattern extends readonly string[]>(
  pattern: Pattern,
  path: string,
  segments: readonly string[],
  field: string,
): References<Pattern> {
  const rest = restOf(path, segments, pattern.length * 2);
  return parseResourcePath(pattern, path.slice(0, path.length - rest.length), field);
}

/** What follows on so many segments, with its slash; empty for nothing. */
function restOf(path: string, segments: readonly string[], count: number): string {
  let length = 0;
  for (let at = count; at < segments.length; at++) length += (segments[at] as string).length + 1;
  return length === 0 ? "" : path.slice(-length);
}

/** @param start the first segment that is not of a path of ours. */
function checkRest(segments: readonly string[], start: number, fail: (description: string) => never): void {
  for (let at = start; at < segments.length; at++) {
    const segment = segments[at] as string;
    if (segmentPattern.test(segment) && segment !== "." && segment !== "..") continue;
    fail(`segment ${at + 1} must be 1 to 128 letters, digits and . _ ~ @ : - and neither . nor ..`);
  }
}
