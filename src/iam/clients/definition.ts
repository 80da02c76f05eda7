import { sql } from "kysely";
import { ClientSchema, ClientsService } from "../../../gen/iam/v1alpha/client_pb.ts";
import { scalar } from "../../filters/filter-fields.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { type IssuedClientRow, clientPath, toClient } from "./message.ts";
import { clientColumns, selectClients } from "./store.ts";
import { orgById } from "../../paths/format-path.ts";

export const clientDefinition = defineResource<"clients", IssuedClientRow, typeof ClientSchema>({
  type: "Client",
  service: ClientsService,
  schema: ClientSchema,
  label: { one: "client", many: "clients" },
  places: [placeBelow("Client", orgDefinition, "org_id")],
  storage: {
    table: "clients",
    key: ["org_id", "id"],
    id: "id",
    columns: clientColumns,
    unread: ["secret_hash", "previous_secret_hash"],
    select: selectClients,
    called: levelOf("clients", false),
    references: [{ column: "org_id", to: "Org", onDelete: "cascade" }],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["clients_name_key"],
  },
  toMessage: toClient,
  pathOf: clientPath,
  logged: { joinedById: orgById },
  withoutSecrets: ({ secret: _secret, ...client }) => client,
  fields: { confidential: scalar("boolean", sql`clients.confidential`) },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_CLIENTS_PER_ORG",
    default: 1_000,
    max: 1_000_000,
    help: "How many OAuth clients an org may have.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "unnamed", heldBy: {}, notByAdmin: [] },
});
