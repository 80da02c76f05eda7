import { ServiceSchema, ServicesService } from "../../../gen/resources/v1alpha/service_pb.ts";
import { serviceLevel } from "../../database/match-reference.ts";
import { patterns } from "../../paths/patterns.ts";
import { defineResource } from "../../standard-methods/definition/definition.ts";
import { servicePath, toService } from "./message.ts";
import { selectServices, serviceColumns } from "./store.ts";

/** A service of the cloud. Like the rest of the service catalog, it is stored in the installation's own org. */
export const serviceDefinition = defineResource({
  type: "Service",
  service: ServicesService,
  schema: ServiceSchema,
  label: { one: "service", many: "services" },
  places: [{ pattern: patterns.Service, parents: [] }],
  storage: {
    table: "services",
    key: ["id"],
    id: "id",
    columns: serviceColumns,
    unread: [],
    select: selectServices,
    called: serviceLevel,
    references: [{ column: "org_id", to: "Org", onDelete: "cascade" }],
    countedBy: undefined,
    labels: "unindexed",
    nameConstraints: ["services_name_key"],
  },
  toMessage: toService,
  pathOf: servicePath,
  logged: { joinedById: () => ({}) },
  fields: {},
  lifecycle: undefined,
  limit: undefined,
  responses: { revalidatedBy: ["system"] },
  access: { namedIn: "unnamed", heldBy: {}, notByAdmin: [] },
});
