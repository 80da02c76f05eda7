// What the author of a change must hold, and which error it gets otherwise.
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { isWildcard } from "../engine/tables/permission-class.ts";
import { patterns } from "../../paths/patterns.ts";
import type { GrantScope } from "./guard-types.ts";
import type { Demand } from "./require-held.ts";

/** The permission to grant what the grantor does not hold. */
const grantUnheld = "iam.roleBindings.grantUnheld";

/** The permission to take away what the author does not hold. */
const revokeUnheld = "iam.roleBindings.revokeUnheld";

/** The maximum number of missing permissions that an error names. */
const maxNamed = 5;

/** Returns the demand of a change that passes on permissions. The error states the rule. */
export function granting(rule: string): Demand {
  return { passesOn: true, unless: [grantUnheld], deny: (missing) => grantExceedsOwn(rule, missing) };
}

/** Returns the demand of a change that passes on permissions to some and takes them from others. */
export function shifting(rule: string): Demand {
  return { passesOn: true, unless: [grantUnheld, revokeUnheld], deny: (missing) => grantExceedsOwn(rule, missing) };
}

/** The demand of a change that takes permissions away. */
export const revoking: Demand = {
  passesOn: false,
  unless: [revokeUnheld],
  deny([permission = ""], scope, transaction) {
    const path = pathOfScope(scope, transaction);
    const where = path === "/" ? "the platform" : path;
    return new ServiceError(
      "REVOKE_EXCEEDS_OWN",
      `this would take away ${nameOf(permission)} on ${where}: the caller must hold it there itself, without a condition or an expire time, or hold ${revokeUnheld}`,
      { metadata: { permission, resource: path, required_permission: revokeUnheld } },
    );
  },
};

/** The demand of access that begins without a decision: the permission to begin it, and not what that is worth to who gets it from somebody. */
export const breakingGlass: Demand = {
  passesOn: false,
  unless: [],
  deny([permission = ""], scope, transaction) {
    const path = pathOfScope(scope, transaction);
    const message = `to begin access without a decision, the caller must hold ${permission} on ${path} without a condition or an expire time`;
    return new ServiceError("PERMISSION_DENIED", message, { metadata: { permission, resource: path } });
  },
};

function grantExceedsOwn(rule: string, missing: readonly string[]): ServiceError {
  const named = missing.slice(0, maxNamed).map(nameOf);
  const more = missing.length > maxNamed ? ` and ${missing.length - maxNamed} more` : "";
  return new ServiceError("GRANT_EXCEEDS_OWN", `${rule}: the caller lacks ${named.join(", ")}${more}`, {
    metadata: { permission: missing[0] ?? "" },
  });
}

/** Returns the name of a permission, or what a wildcard stands for, in words. */
function nameOf(permission: string): string {
  if (permission === "*") return "* (every permission)";
  const verb = isWildcard(permission) ? (permission.split(".").at(-1) ?? "") : undefined;
  if (verb === undefined) return permission;
  return verb === "*" ? "every permission of other services" : `every permission to ${verb} of other services`;
}

/** Returns the path of a scope. Names projects, customers and services by id, because the caller may not know their names. */
function pathOfScope({ kind, id }: GrantScope, { org }: OrgTransaction): string {
  switch (kind) {
    case "platform":
      return "/";
    case "customer":
      return formatPath(patterns.Customer, `@${id}`);
    case "service":
      return formatPath(patterns.Service, `@${id}`);
    case "org":
      return formatPath(patterns.Org, pathName(org));
    case "project":
      return formatPath(patterns.Project, pathName(org), `@${id}`);
  }
}
