import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import type { PredefinedRole } from "./predefined-roles.ts";

/** What roles, and all that grants them, depend on. */
export interface RoleDependencies extends ResourceDependencies {
  readonly predefinedRoles: readonly PredefinedRole[];
  readonly knownPermissions: readonly string[];
}
