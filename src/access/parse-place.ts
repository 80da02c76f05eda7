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
  const segments = text.replace(/^\//, "").split("/");
  const [top = "", , below = ""] = segments;
  if (segments.length === 1 && top === "") return { kind: "platform" };
  if (isOurs(segments)) return { kind: "platform" };
  if (top === "customers") {
    const [customer] = parseStart(patterns.Customer, segments, field);
    checkRest(segments.slice(2), 3, fail);
    return { kind: "customer", customer };
  }
  if (top !== "orgs") {
    fail('must be empty or start with "/orgs/", "/customers/", "/roles/" or "/roleBindings/"');
  }
  if (below === "projects" && segments.length > 3) {
    const [org, project] = parseStart(patterns.Project, segments, field);
    const rest = segments.slice(4);
    checkRest(rest, 5, fail);
    return { kind: "org", org, project, isItself: rest.length === 0, rest: joined(rest) };
  }
  const [org] = parseStart(patterns.Org, segments, field);
  const rest = segments.slice(2);
  checkRest(rest, 3, fail);
  return { kind: "org", org, project: undefined, isItself: rest.length === 0, rest: joined(rest) };
}

/** Whether the path names something that belongs to the platform as a whole. */
function isOurs([top, ...rest]: readonly string[]): boolean {
  const collections: readonly string[] = [...otherPatterns.predefinedRole, ...otherPatterns.platformRoleBinding];
  return rest.length === 1 && collections.includes(top ?? "");
}

function parseStart<const Pattern extends readonly string[]>(
  pattern: Pattern,
  segments: readonly string[],
  field: string,
): References<Pattern> {
  return parseResourcePath(pattern, segments.slice(0, pattern.length * 2).join("/"), field);
}

function checkRest(rest: readonly string[], first: number, fail: (description: string) => never): void {
  const wrong = rest.findIndex((segment) => !segmentPattern.test(segment) || segment === "." || segment === "..");
  if (wrong === -1) return;
  fail(`segment ${first + wrong} must be 1 to 128 letters, digits and . _ ~ @ : - and neither . nor ..`);
}

function joined(rest: readonly string[]): string {
  return rest.map((segment) => `/${segment}`).join("");
}
