import { RoleSchema, RolesService } from "../../../gen/iam/v1alpha/role_pb.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { otherPatterns } from "../../paths/patterns.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { rolePath, toRole } from "./message.ts";
import { roleColumns, selectRoles } from "./store.ts";
import { orgById } from "../../paths/format-path.ts";

export const roleDefinition = defineResource({
  type: "Role",
  service: RolesService,
  schema: RoleSchema,
  label: { one: "role", many: "roles" },
  places: [placeBelow("Role", orgDefinition, "org_id")],
  otherPlaces: [otherPatterns.predefinedRole],
  storage: {
    table: "roles",
    key: ["org_id", "id"],
    id: "id",
    columns: roleColumns,
    unread: [],
    select: selectRoles,
    called: levelOf("roles", false),
    references: [{ column: "org_id", to: "Org", onDelete: "cascade" }],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["roles_name_key"],
  },
  toMessage: toRole,
  pathOf: rolePath,
  logged: { joinedById: orgById },
  fields: {},
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_ROLES_PER_ORG",
    default: 1_000,
    max: 1_000_000,
    help: "How many custom roles an org may have.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "roles", heldBy: { "access-admin": ["create", "update", "delete"] }, notByAdmin: [] },
});
