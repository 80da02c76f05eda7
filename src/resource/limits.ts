import { ServiceError } from "../errors/service-error.ts";
import type { ResourceType } from "../paths/patterns.ts";
import type { ResourceDefinition } from "./definition.ts";

/** How many of a resource there may be in one parent; any number of those that have no limit. */
export type Limits = Readonly<Partial<Record<ResourceType, number>>>;

export function limitExceeded({ label }: ResourceDefinition, parentPath: string, limit: number): ServiceError {
  const description = `${parentPath} holds as many ${label.many} as it may, ${limit}`;
  return new ServiceError("LIMIT_EXCEEDED", description, {
    metadata: { resource: parentPath, limit: String(limit) },
    quotas: [{ subject: parentPath, description }],
  });
}
