import { OrgSchema, OrgsService } from "../../../gen/iam/v1alpha/org_pb.ts";
import { orgLevel } from "../../database/match-reference.ts";
import { pathText } from "../../filters/common-fields.ts";
import { patterns } from "../../paths/patterns.ts";
import { defineResource } from "../../standard-methods/definition/definition.ts";
import { orgPath, toOrg } from "./message.ts";
import { type OrgRow, orgColumns, selectOrgs } from "./store.ts";
import { byId } from "../../paths/format-path.ts";

export const orgDefinition = defineResource<"orgs", OrgRow, typeof OrgSchema>({
  type: "Org",
  service: OrgsService,
  schema: OrgSchema,
  label: { one: "org", many: "orgs" },
  places: [{ pattern: patterns.Org, parents: [] }],
  storage: {
    table: "orgs",
    key: ["id"],
    id: "id",
    columns: orgColumns,
    // The head of the change log and the end of its chain, which change with every write.
    unread: ["revision", "revision_time", "chain_revision", "chain_start", "chain_hash"],
    select: selectOrgs,
    called: orgLevel,
    references: [{ column: "customer_id", to: "Customer", onDelete: "cascade" }],
    countedBy: undefined,
    labels: "indexed",
    nameConstraints: ["orgs_name_key"],
  },
  toMessage: toOrg,
  pathOf: orgPath,
  logged: { joinedById: (row) => ({ customer_name: byId(row.customer_id), customer_delete_time: null }) },
  fields: { customer_path: pathText([{ collection: "customers", alias: "customers", keepsDeleted: true }]) },
  lifecycle: { states: ["ACTIVE", "SUSPENDED"], contents: "locked", deletedNames: "reserved" },
  limit: {
    variable: "TENANTRY_MAX_ORGS_PER_CUSTOMER",
    default: 100,
    max: 1_000_000,
    help: "How many orgs a customer may have.",
  },
  responses: {
    neverRevalidated: "The path of its customer contains the name of it, which changes without a revision of the org.",
  },
  access: {
    namedIn: "unnamed",
    heldBy: {
      editor: ["export", "plan"],
      viewer: ["export", "plan"],
      "access-admin": ["export", "plan"],
      "members-admin": ["get", "list"],
      "groups-admin": ["get", "list"],
      "projects-admin": ["get", "list"],
      "api-keys-admin": ["get", "list"],
    },
    notByAdmin: ["delete", "undelete", "purge", "suspend", "activate"],
  },
});
