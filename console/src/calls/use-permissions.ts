import { useQuery } from "@connectrpc/connect-query";
import { AccessService } from "../../../gen/iam/v1alpha/access_pb.ts";

/** What the person may do on the resource of a screen. */
export interface Permissions {
  readonly resourcePath: string;
  /** Undefined while the service has not said. */
  readonly may: (permission: string) => boolean | undefined;
  /** Whether the service could not say. It then decides, and says why, when something is done. */
  readonly failed?: boolean;
}

/**
 * Asks once for a screen which of its permissions the person holds.
 *
 * @param enabled false while it is not known on what.
 */
export function usePermissions(resourcePath: string, permissions: string[], enabled = true): Permissions {
  const { data, error } = useQuery(AccessService.method.testPermissions, { resourcePath, permissions }, { enabled });
  return { resourcePath, may: (permission) => data?.permissions.includes(permission), failed: error !== null };
}
