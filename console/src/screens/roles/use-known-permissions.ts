import { useQuery } from "@connectrpc/connect-query";
import { useMemo } from "react";
import { type Role, RolesService } from "../../../../gen/iam/v1alpha/role_pb.ts";
import { type ResourceType, ResourceTypesService } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { isWildcard } from "./permission-groups.ts";

const options = { retry: false, staleTime: 60_000 };

/** The verbs of permissions on resources of every type. */
const usualVerbs = ["get", "list", "update", "use"];

/** The operations that only the service itself starts. */
const notAllowed = new Set(["suspend", "resume"]);

interface KnownPermissions {
  readonly permissions: readonly string[];
  /** The roles that name some of them: the predefined ones, then those of the org. */
  readonly roles: readonly Role[];
}

/**
 * Returns the permissions that the service names: in the roles of an org and the predefined ones, and by the types of resources in the
 * catalog. Undefined until they are read.
 */
export function useKnownPermissions(org: string): KnownPermissions | undefined {
  const predefined = useQuery(RolesService.method.listRoles, { pageSize: 1_000 }, options);
  const custom = useQuery(RolesService.method.listRoles, { parentPath: org, pageSize: 1_000 }, options);
  const request = { parentPath: "services/-", pageSize: 1_000 };
  const catalog = useQuery(ResourceTypesService.method.listResourceTypes, request, options);
  const read = [predefined, custom, catalog].every(({ isPending }) => !isPending);
  return useMemo(() => {
    if (!read) return undefined;
    const roles = [...(predefined.data?.roles ?? []), ...(custom.data?.roles ?? [])];
    const named = roles.flatMap(({ permissions }) => permissions).filter((name) => !isWildcard(name));
    const ofTypes = (catalog.data?.resourceTypes ?? []).flatMap(permissionsOf);
    return { permissions: [...new Set([...named, ...ofTypes])], roles };
  }, [read, predefined.data, custom.data, catalog.data]);
}

function permissionsOf({ path, collection, operations }: ResourceType): string[] {
  const service = path.split("/")[2] ?? "";
  const verbs = operations.map(({ verb }) => verb).filter((verb) => !notAllowed.has(verb));
  return [...usualVerbs, ...verbs].map((verb) => `${service}.${collection}.${verb}`);
}
