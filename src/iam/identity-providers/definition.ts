import { IdentityProviderSchema, IdentityProvidersService } from "../../../gen/iam/v1alpha/identity_provider_pb.ts";
import { text } from "../../filters/filter-fields.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { identityProviderPath, toIdentityProvider } from "./message.ts";
import { identityProviderColumns, selectIdentityProviders } from "./store.ts";
import { byId, orgById } from "../../paths/format-path.ts";

export const identityProviderDefinition = defineResource({
  type: "IdentityProvider",
  service: IdentityProvidersService,
  schema: IdentityProviderSchema,
  label: { one: "identity provider", many: "identity providers" },
  places: [placeBelow("IdentityProvider", orgDefinition, "org_id")],
  storage: {
    table: "identity_providers",
    key: ["org_id", "id"],
    id: "id",
    columns: identityProviderColumns,
    unread: ["sealed_secret"],
    select: selectIdentityProviders,
    called: levelOf("identity_providers", false),
    references: [{ column: "org_id", to: "Org", onDelete: "cascade" }],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["identity_providers_name_key"],
    joinsAnew: true,
  },
  toMessage: toIdentityProvider,
  pathOf: identityProviderPath,
  logged: {
    joinedById: (row) => ({
      ...orgById(row),
      // Entries from before first sign-ins have none.
      first_sign_in_group_names: (row.first_sign_in_group_ids ?? []).map((id) => byId(id)),
    }),
  },
  fields: {
    issuer: text("identity_providers.issuer", { searched: true }),
    client_id: text("identity_providers.client_id"),
  },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_IDENTITY_PROVIDERS_PER_ORG",
    default: 100,
    max: 1_000,
    help: "How many identity providers an org may have.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "unnamed", heldBy: {}, notByAdmin: [] },
});
