import { ResourceTypeSchema, ResourceTypesService } from "../../../gen/resources/v1alpha/resource_type_pb.ts";
import { text } from "../../filters/filter-fields.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { serviceDefinition } from "../services/definition.ts";
import { resourceTypePath, toResourceType } from "./message.ts";
import { resourceTypeColumns, selectResourceTypes, usesKind } from "./store.ts";
import { byId } from "../../paths/format-path.ts";

export const resourceTypeDefinition = defineResource({
  type: "ResourceType",
  service: ResourceTypesService,
  schema: ResourceTypeSchema,
  label: { one: "resource type", many: "resource types" },
  places: [placeBelow("ResourceType", serviceDefinition, "service_id")],
  storage: {
    table: "resource_types",
    key: ["id"],
    id: "id",
    columns: resourceTypeColumns,
    unread: [],
    select: selectResourceTypes,
    called: levelOf("resource_types", false),
    references: [
      { column: "org_id", to: "Org", onDelete: "cascade" },
      { column: "service_id", to: "Service", onDelete: "restrict" },
    ],
    hiddenReferences: [
      { to: "QuantityKind", refers: (row, { name }) => usesKind(row, "quantity", name) },
      { to: "QualityKind", refers: (row, { name }) => usesKind(row, "quality", name) },
    ],
    countedBy: "service_id",
    labels: "unindexed",
    nameConstraints: ["resource_types_name_key"],
  },
  toMessage: toResourceType,
  pathOf: resourceTypePath,
  logged: { joinedById: (row) => ({ service_name: byId(row.service_id) }) },
  fields: { collection: text("resource_types.collection") },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_RESOURCE_TYPES_PER_SERVICE",
    default: 100,
    max: 10_000,
    help: "How many resource types a service may have.",
  },
  responses: { revalidatedBy: ["system"] },
  access: { namedIn: "unnamed", heldBy: { provider: ["*"] }, notByAdmin: [] },
});
