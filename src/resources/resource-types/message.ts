import { type JsonObject, fromJson, toJson } from "@bufbuild/protobuf";
import {
  type OperationType,
  OperationTypeSchema,
  type ResourceType,
} from "../../../gen/resources/v1alpha/resource_type_pb.ts";
import type { StoredOperationType } from "../../database/schema.ts";
import { formatPath } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import { withCounted } from "./counted.ts";
import type { ResourceTypeRow } from "./store.ts";

export function toResourceType(row: ResourceTypeRow): ResourceType {
  return {
    $typeName: "resources.v1alpha.ResourceType",
    path: resourceTypePath(row),
    ...namedFields(row),
    collection: row.collection,
    ...(row.parameters_schema !== null && { parametersSchema: row.parameters_schema }),
    routingParameter: row.routing_parameter,
    operations: withCounted(
      row.operations.map((each) => fromStored(each as unknown as JsonObject)),
      row.operations,
    ),
  };
}

/** Returns an operation as its message shows it, without fields that a server of a newer version has stored. */
function fromStored(operation: JsonObject): OperationType {
  return fromJson(OperationTypeSchema, operation, { ignoreUnknownFields: true });
}

export function toStored(operations: readonly OperationType[]): string {
  return JSON.stringify(operations.map((each) => toJson(OperationTypeSchema, each) as unknown as StoredOperationType));
}

export function resourceTypePath({ service_name, name }: Pick<ResourceTypeRow, "service_name" | "name">): string {
  return formatPath(patterns.ResourceType, service_name, name);
}
