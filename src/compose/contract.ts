import { type ConditionNames, requireAllCollections } from "../access/conditions/condition-path.ts";
import type { PredefinedRoles } from "../access/engine/tables/role-table.ts";
import { type PredefinedRole, createPredefinedRoles, listKnownPermissions } from "../iam/roles/predefined-roles.ts";
import { type MethodTable, collectionsOf, createMethodTable, permissionsOfMethods } from "../rpc/method-table.ts";
import { services, standardServices } from "../rpc/services.ts";
import { conditionCollectionsOf } from "../standard-methods/definition/condition-collections.ts";
import type { ResourceRegistry } from "../standard-methods/definition/registry.ts";

/** What the protos and the definitions of the resources say together. It never changes while the server runs. */
export interface Contract {
  readonly registry: ResourceRegistry;
  readonly methods: MethodTable;
  readonly knownPermissions: readonly string[];
  readonly predefinedRoles: readonly PredefinedRole[];
  /** The same by name. */
  readonly rolesByName: PredefinedRoles;
  /** The collections that conditions can name. */
  readonly collections: ConditionNames["collections"];
}

/** @throws Error that names what is missing or does not match. */
export function composeContract(registry: ResourceRegistry): Contract {
  const { definitions } = registry;
  const methods = createMethodTable([...services, ...standardServices]);
  const knownPermissions = listKnownPermissions(permissionsOfMethods(methods), definitions);
  const predefinedRoles = createPredefinedRoles(knownPermissions, definitions);
  const rolesByName = Object.fromEntries(predefinedRoles.map((role) => [role.name, role]));
  const collections = conditionCollectionsOf(definitions);
  requireAllCollections(collections, collectionsOf(methods));
  return { registry, methods, knownPermissions, predefinedRoles, rolesByName, collections };
}
