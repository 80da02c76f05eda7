// What the catalog of the service calls things. Everybody may read it.
import { useQuery } from "@connectrpc/connect-query";
import { QualityKindsService } from "../../../gen/resources/v1alpha/quality_kind_pb.ts";
import { type ResourceType, ResourceTypesService } from "../../../gen/resources/v1alpha/resource_type_pb.ts";
import { nameOf } from "./paths.ts";
import { type KindOf, mostKinds, toKindOf } from "./use-kinds.ts";

/** The most types that are known. Others are called by their names in paths. */
const pageSize = 1_000;

/** Asks for the types of all services. */
export function useResourceTypes() {
  const request = { parentPath: "services/-", pageSize };
  return useQuery(ResourceTypesService.method.listResourceTypes, request, { retry: false });
}

/** Returns what people call types, by their paths. */
export function useTypeNames(): (path: string) => string {
  const types = new Map(
    (useResourceTypes().data?.resourceTypes ?? []).map(({ path, displayName }) => [path, displayName]),
  );
  return (path) => types.get(path) || nameOf(path);
}

/** Returns the kinds of Qualities. */
export function useQualityKinds(): KindOf {
  const request = { pageSize: mostKinds };
  const { data } = useQuery(QualityKindsService.method.listQualityKinds, request, { retry: false });
  return toKindOf(data?.qualityKinds ?? []);
}

/** Returns the permission for an operation of a type, such as `compute.instances.resize`. */
export const permissionFor = ({ path, collection }: Pick<ResourceType, "path" | "collection">, verb: string): string =>
  `${path.split("/")[2]}.${collection}.${verb}`;
