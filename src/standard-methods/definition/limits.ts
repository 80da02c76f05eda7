import { ServiceError } from "../../errors/service-error.ts";
import type { ResourceType } from "../../paths/patterns.ts";
import type { ResourceDefinition } from "./definition.ts";

/** The maximum number of resources of a type in one parent. A type without an entry has no limit. */
export type Limits = Readonly<Partial<Record<ResourceType, number>>>;

export function limitExceeded({ label }: ResourceDefinition, parentPath: string, limit: number): ServiceError {
  const description = `${parentPath} has reached its limit of ${limit} ${label.many}`;
  return new ServiceError("LIMIT_EXCEEDED", description, {
    metadata: { resource: parentPath, limit: String(limit) },
    quotas: [{ subject: parentPath, description }],
  });
}
