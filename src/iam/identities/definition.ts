import { IdentitiesService, IdentitySchema } from "../../../gen/iam/v1alpha/identity_pb.ts";
import { enumerated, text } from "../../filters/filter-fields.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { memberDefinition } from "../members/definition.ts";
import { identityPath, toIdentity } from "./message.ts";
import { identityColumns, identityState, selectIdentities } from "./store.ts";
import { byId, orgById } from "../../paths/format-path.ts";

export const identityDefinition = defineResource({
  type: "Identity",
  service: IdentitiesService,
  schema: IdentitySchema,
  label: { one: "identity", many: "identities" },
  places: [placeBelow("Identity", memberDefinition, "member_id")],
  storage: {
    table: "identities",
    key: ["org_id", "member_id", "id"],
    id: "id",
    columns: identityColumns,
    // Whether a person has declined is not the business of the org.
    unread: ["decline_time"],
    select: selectIdentities,
    called: levelOf("identities", false),
    // The provider can be in the org `system`; its deletion removes its identities.
    references: [{ column: "member_id", to: "Member", onDelete: "cascade" }],
    countedBy: "member_id",
    labels: "unindexed",
    nameConstraints: ["identities_name_key"],
  },
  toMessage: toIdentity,
  pathOf: identityPath,
  logged: {
    // The provider may be in the org of the row or in `system`, and which one decides the state.
    joinedById: (row) => ({
      ...orgById(row),
      member_name: byId(row.member_id),
      member_delete_time: null,
      state: "ACTIVE",
      provider_name: byId(row.provider_id),
      issuer: null,
      provider_org_name: "-",
    }),
    unknownFields: ["state", "issuer"],
  },
  fields: {
    subject: text("identities.subject", { searched: true }),
    state: enumerated(identityState, ["PENDING", "ACTIVE"]),
  },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_IDENTITIES_PER_MEMBER",
    default: 100,
    max: 1_000,
    help: "How many identities a member may have.",
  },
  // The paths of providers contain their names, and those that serve all orgs are in the org `system`.
  responses: { revalidatedBy: ["org of the path", "system"] },
  access: { namedIn: "unnamed", heldBy: { "members-admin": ["*"] }, notByAdmin: [] },
});
