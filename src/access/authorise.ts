import { ServiceError } from "../errors/service-error.ts";
import type { Caller } from "../identity/caller.ts";
import type { Installation } from "../identity/installation.ts";
import type { Reference } from "../paths/resource-path.ts";

/**
 * Decides whether the caller holds a permission on the resource at a path; on the platform as a whole when the path is
 * empty. It does not ask whether the resource exists: that is not the business of those who may not see it (AIP-211).
 *
 * @throws ServiceError PERMISSION_DENIED
 */
export type Authorise = (caller: Caller, permission: string, path: readonly Reference[]) => Promise<void>;

/** The operator holds every permission everywhere, others none: roles are not there yet. */
export function createAuthorise(installation: Installation): Authorise {
  return (caller, permission) =>
    caller.memberId === installation.operatorId
      ? Promise.resolve()
      : Promise.reject(
          new ServiceError(
            "PERMISSION_DENIED",
            `the caller lacks the permission ${permission} on this resource (or it might not exist)`,
            { metadata: { permission } },
          ),
        );
}
