import { createQueryOptions, useTransport } from "@connectrpc/connect-query";
import { useQueries } from "@tanstack/react-query";
import { AccessService } from "../../../gen/iam/v1alpha/access_pb.ts";
import type { Permissions } from "./use-permissions.ts";

/** Asks once for each of several resources which permissions the person holds there. */
export function usePermissionsOn(paths: readonly string[], permissions: string[]): (path: string) => Permissions {
  const transport = useTransport();
  const distinct = [...new Set(paths)];
  const answers = useQueries({
    queries: distinct.map((resourcePath) =>
      createQueryOptions(AccessService.method.testPermissions, { resourcePath, permissions }, { transport }),
    ),
  });
  return (resourcePath) => {
    const data = answers[distinct.indexOf(resourcePath)]?.data;
    return { resourcePath, may: (permission) => data?.permissions.includes(permission) };
  };
}

/** Returns where the person may do least of what a permission is for: where it is refused, or else not known yet. */
export function weakestOf(all: readonly Permissions[], permission: string): Permissions | undefined {
  return (
    all.find(({ may }) => may(permission) === false) ?? all.find(({ may }) => may(permission) === undefined) ?? all[0]
  );
}
