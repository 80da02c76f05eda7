// Converts the subjects, actions and resources of AuthZEN requests to those of AccessService.
import type { JsonObject } from "@bufbuild/protobuf";
import type { Action, Resource, Subject } from "../../gen/authzen/v1/authorization_api_pb.ts";
import { parseTargetPath } from "../access/evaluation/target-path.ts";
import { invalidField } from "../errors/service-error.ts";
import { type PathPattern, patterns } from "../paths/patterns.ts";
import { parseResourcePath } from "../paths/parse-path.ts";

const subjectTypes = new Map<string, PathPattern>([
  ["member", patterns.Member],
  ["group", patterns.Group],
]);

const resourceTypes = new Map<string, PathPattern>([
  ["customer", patterns.Customer],
  ["service", patterns.Service],
  ["org", patterns.Org],
  ["project", patterns.Project],
]);

/**
 * Returns the path of a subject; undefined for an unknown type.
 *
 * @param field the field of the request that holds the subject, for errors.
 * @throws ServiceError PATH_INVALID when the id is not the path of a subject of that type.
 */
export function subjectPathOf({ type, id }: Subject, field: string): string | undefined {
  const pattern = subjectTypes.get(type);
  if (pattern === undefined) return undefined;
  parseResourcePath(pattern, id, `${field}.id`);
  return id;
}

/** @throws ServiceError PATH_INVALID or FIELD_INVALID when the id is not the path of a resource of that type. */
export function resourcePathOf({ type, id }: Resource, field: string): string {
  const pattern = resourceTypes.get(type);
  if (pattern !== undefined) parseResourcePath(pattern, id, `${field}.id`);
  const isOnPlatform = parseTargetPath(id, `${field}.id`).pattern.length === 0;
  if (type === "platform" && !isOnPlatform) throw invalidField(`${field}.id`, "must be / for the platform", "path");
  return id;
}

interface Described {
  readonly subject?: Subject | undefined;
  readonly action?: Action | undefined;
  readonly resource?: Resource | undefined;
  readonly context?: JsonObject | undefined;
}

/** Returns the `context` of conditions: the context of the request, with the properties of its subject, action and resource. */
export function contextOf({ subject, action, resource, context }: Described): JsonObject {
  return {
    ...context,
    ...(subject?.properties && { subject: subject.properties }),
    ...(action?.properties && { action: action.properties }),
    ...(resource?.properties && { resource: resource.properties }),
  };
}
