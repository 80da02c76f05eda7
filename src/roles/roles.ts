import { RoleSchema } from "../../gen/iam/v1alpha/role_pb.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import { type ResourceDependencies, defineResource } from "../resource/resource.ts";
import { roleFields } from "./fields.ts";
import { loggedRole, rolePath, toRole } from "./message.ts";
import { type RoleRow, deleteRole, findRole, insertRole, readRolesPage, selectRoles, updateRole } from "./store.ts";

/** The roles that orgs make for themselves. */
export function createRoles({ database, parents, grants }: ResourceDependencies) {
  return defineResource({
    type: "Role",
    label: "role",
    schema: RoleSchema,
    toMessage: toRole,
    pathOf: rolePath,
    idOf: (row: RoleRow) => row.id,
    parentIdOf: (row) => row.org_id,
    logged: loggedRole,
    fields: roleFields,
    uniqueKey: ["roles.org_id", "roles.id"],
    lookup: createPathLookup(database, "roles", ["orgs", "roles"], selectRoles(database.reads)),
    resolveParent: parents.org,
    readPage: readRolesPage,
    find: findRole,

    async insert(transaction, _parent, role) {
      await grants.requireMayDefine(transaction, role.permissions);
      return insertRole(transaction, role);
    },

    async update(transaction, row, role) {
      const added = role.permissions.filter((permission) => !row.permissions.includes(permission));
      if (added.length > 0) await grants.requireMayDefine(transaction, added);
      return updateRole(transaction, row, role);
    },

    remove: deleteRole,

    explain: (error, role) => explainNameTaken(error, "roles_name_key", "role", role),
  });
}
