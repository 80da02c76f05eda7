import { ScimSourceSchema, ScimSourcesService } from "../../../gen/iam/v1alpha/scim_source_pb.ts";
import { enumerated } from "../../filters/filter-fields.ts";
import { byId, orgById } from "../../paths/format-path.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { scimSourcePath, toScimSource } from "./message.ts";
import { scimSourceColumns, selectScimSources } from "./store.ts";

export const scimSourceDefinition = defineResource({
  type: "ScimSource",
  service: ScimSourcesService,
  schema: ScimSourceSchema,
  label: { one: "SCIM source", many: "SCIM sources" },
  places: [placeBelow("ScimSource", orgDefinition, "org_id")],
  storage: {
    table: "scim_sources",
    key: ["org_id", "id"],
    id: "id",
    columns: scimSourceColumns,
    unread: [],
    select: selectScimSources,
    called: levelOf("scim_sources", false),
    references: [
      { column: "org_id", to: "Org", onDelete: "cascade" },
      { column: "member_id", to: "Member", onDelete: "restrict" },
      { column: "provider_id", to: "IdentityProvider", onDelete: "restrict" },
    ],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["scim_sources_name_key"],
  },
  toMessage: toScimSource,
  pathOf: scimSourcePath,
  logged: {
    joinedById: (row) => ({
      ...orgById(row),
      member_name: byId(row.member_id),
      member_delete_time: null,
      provider_name: byId(row.provider_id),
    }),
  },
  fields: { subject: enumerated("scim_sources.subject", ["EXTERNAL_ID", "USER_NAME"]) },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_SCIM_SOURCES_PER_ORG",
    default: 10,
    max: 1_000,
    help: "How many SCIM sources an org may have.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: {
    namedIn: "unnamed",
    // The methods of SCIM require it.
    otherVerbs: ["provision"],
    heldBy: { provisioner: ["provision"] },
    notByAdmin: ["create", "update", "delete", "provision"],
  },
});
