// What the catalog of the service calls things. Everybody may read it.
import { useQuery } from "@connectrpc/connect-query";
import { QualityKindsService } from "../../../gen/resources/v1alpha/quality_kind_pb.ts";
import { QuantityKindsService } from "../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { type ResourceType, ResourceTypesService } from "../../../gen/resources/v1alpha/resource_type_pb.ts";
import { nameOf } from "./paths.ts";

/** A kind of Quantities or Qualities. */
export interface Kind {
  /** What people call it. */
  readonly name: string;
  /** The unit of amounts, such as `byte`; empty for Qualities. */
  readonly unit: string;
}

/** The most of each that are known. Others are called by their names in paths. */
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

/** Returns the kinds of Quantities and of Qualities, by their names. */
export function useKindsOfVariables(): (name: string) => Kind {
  const quantities = useQuery(QuantityKindsService.method.listQuantityKinds, { pageSize }, { retry: false });
  const qualities = useQuery(QualityKindsService.method.listQualityKinds, { pageSize }, { retry: false });
  const kinds = new Map<string, Kind>();
  for (const { name, displayName } of qualities.data?.qualityKinds ?? [])
    kinds.set(name, { name: displayName || name, unit: "" });
  for (const { name, displayName, unit } of quantities.data?.quantityKinds ?? [])
    kinds.set(name, { name: displayName || name, unit });
  return (name) => kinds.get(name) ?? { name, unit: "" };
}

/** Returns the permission for an operation of a type, such as `compute.instances.resize`. */
export const permissionFor = ({ path, collection }: Pick<ResourceType, "path" | "collection">, verb: string): string =>
  `${path.split("/")[2]}.${collection}.${verb}`;
