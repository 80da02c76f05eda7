import { type SqlBool, sql } from "kysely";
import { RoleBindingSchema, RoleBindingsService } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import { type FilterField, scalar, text } from "../../filters/filter-fields.ts";
import { pathInOrg } from "../../filters/reference-path.ts";
import { defineResource, levelOf } from "../../standard-methods/definition/definition.ts";
import { roleBindingPath, toRoleBinding } from "./message.ts";
import { scopes } from "./scopes.ts";
import { roleBindingColumns, selectRoleBindings } from "./store.ts";
import { byId, orgById } from "../../paths/format-path.ts";

const org = "role_bindings.org_id";
const customRolePath = pathInOrg({ table: "roles", keepsDeleted: false, org, id: "role_bindings.role_id" });
const memberPath = pathInOrg({ table: "members", keepsDeleted: true, org, id: "role_bindings.member_id" });
const groupPath = pathInOrg({ table: "groups", keepsDeleted: false, org, id: "role_bindings.group_id" });

const rolePath: FilterField = {
  kind: "text",
  value: sql`coalesce('/roles/' || role_bindings.predefined_role, ${customRolePath.value})`,
  isSearched: false,
  equals(path) {
    const [, name] = /^\/roles\/([^/]+)$/.exec(path) ?? [];
    return name === undefined ? customRolePath.equals(path) : sql<SqlBool>`(role_bindings.predefined_role = ${name})`;
  },
};

/** The path of the member or of the group, whichever the binding has. */
const subjectPath: FilterField = {
  kind: "text",
  value: sql`coalesce(${memberPath.value}, ${groupPath.value})`,
  isSearched: false,
  equals: (path) => sql<SqlBool>`(${memberPath.equals(path)} or ${groupPath.equals(path)})`,
};

/** The binding of a role to a member or group on a scope. It is stored in the org of its subject, whatever its scope. */
export const roleBindingDefinition = defineResource({
  type: "RoleBinding",
  service: RoleBindingsService,
  schema: RoleBindingSchema,
  label: { one: "role binding", many: "role bindings" },
  places: [scopes.org.place, scopes.project.place, scopes.customer.place, scopes.service.place, scopes.platform.place],
  storage: {
    table: "role_bindings",
    key: ["org_id", "id"],
    id: "id",
    columns: roleBindingColumns,
    unread: [],
    select: selectRoleBindings,
    called: levelOf("role_bindings", false),
    references: [
      { column: "org_id", to: "Org", onDelete: "cascade" },
      { column: "customer_id", to: "Customer", onDelete: "cascade" },
      { column: "service_id", to: "Service", onDelete: "cascade" },
      { column: "project_id", to: "Project", onDelete: "cascade" },
      { column: "member_id", to: "Member", onDelete: "cascade" },
      { column: "group_id", to: "Group", onDelete: "cascade" },
      { column: "role_id", to: "Role", onDelete: "cascade" },
    ],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["role_bindings_name_key", "role_bindings_shared_name_key"],
    expireField: "role_binding.expire_time",
  },
  toMessage: toRoleBinding,
  pathOf: roleBindingPath,
  logged: {
    joinedById: (row) => ({
      ...orgById(row),
      customer_name: byId(row.customer_id),
      customer_delete_time: null,
      service_name: byId(row.service_id),
      project_name: byId(row.project_id),
      project_delete_time: null,
      member_name: byId(row.member_id),
      member_delete_time: null,
      group_name: byId(row.group_id),
      role_name: byId(row.role_id),
    }),
  },
  fields: {
    role_path: rolePath,
    subject_path: subjectPath,
    start_time: scalar("timestamp", "role_bindings.start_time"),
    expire_time: scalar("timestamp", "role_bindings.expire_time"),
    condition: text("role_bindings.condition"),
  },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_ROLE_BINDINGS_PER_ORG",
    default: 1_000_000,
    max: 100_000_000,
    help: "How many role bindings the members and groups of an org may have.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: {
    namedIn: "unnamed",
    heldBy: { "access-admin": ["create", "update", "delete"] },
    notByAdmin: ["grantUnheld", "revokeUnheld"],
    otherVerbs: ["grantUnheld", "revokeUnheld"],
  },
});
