import { ResourceSchema, ResourcesService } from "../../../gen/resources/v1alpha/resource_pb.ts";
import { typePath } from "../../filters/reference-path.ts";
import { numberMap } from "../../filters/filter-fields.ts";
import { projectDefinition } from "../../iam/projects/definition.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { resourcePath, toResource } from "./message.ts";
import { resourceColumns, selectResources } from "./store.ts";
import { byId, orgById } from "../../paths/format-path.ts";

/** An infrastructure resource. Its provider creates, changes and deletes it, by operations. */
export const infrastructureDefinition = defineResource({
  type: "Resource",
  service: ResourcesService,
  schema: ResourceSchema,
  label: { one: "resource", many: "resources" },
  places: [placeBelow("Resource", projectDefinition, "project_id")],
  storage: {
    table: "resources",
    key: ["org_id", "id"],
    id: "id",
    columns: resourceColumns,
    unread: [],
    select: selectResources,
    called: levelOf("resources", true),
    references: [
      { column: "org_id", to: "Org", onDelete: "restrict" },
      { column: "project_id", to: "Project", onDelete: "restrict" },
      { column: "type_id", to: "ResourceType", onDelete: "restrict" },
    ],
    countedBy: "project_id",
    labels: "indexed",
    nameConstraints: ["resources_name_key"],
  },
  toMessage: toResource,
  pathOf: resourcePath,
  logged: {
    joinedById: (row) => ({
      ...orgById(row),
      project_name: byId(row.project_id),
      project_delete_time: null,
      type_name: byId(row.type_id),
      collection: "",
      service_name: "-",
      service_id: "",
    }),
  },
  fields: {
    type_path: typePath("resources.type_id"),
    quantities: numberMap("resources.quantities"),
    given_quantities: numberMap("resources.given_quantities"),
    qualities: numberMap("resources.qualities"),
    given_qualities: numberMap("resources.given_qualities"),
  },
  lifecycle: {
    states: ["CREATING", "ACTIVE", "UPDATING", "SUSPENDED", "FAILED", "DELETING"],
    contents: "open",
    deletedNames: "reusable",
    byProvider: true,
  },
  limit: {
    variable: "TENANTRY_MAX_RESOURCES_PER_PROJECT",
    default: 10_000,
    max: 10_000_000,
    help: "How many resources a project may have.",
  },
  // A method on a resource requires the permission that its type defines. Callers who hold these read resources of all types.
  // Of its type it shows the names, which do not change.
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "unnamed", heldBy: {}, notByAdmin: [], otherVerbs: ["get", "list"] },
});
