// Says what to run next after the service has refused a call, and names fields as flags.
import { CommandError } from "../command-error.ts";
import type { Contract } from "../contract/contract.ts";
import { fieldsOf } from "../contract/method-fields.ts";
import { type FoundMethod, methodAt } from "../contract/find-method.ts";
import { flagOf, kebab } from "../contract/names.ts";
import { ServiceCallError } from "../http/service-error.ts";

interface Failed {
  readonly contract: Contract;
  readonly verb: string;
  readonly found: FoundMethod;
}

/** Returns the error of a call as the command line says it; another one as it is. */
export function explainFailure(error: unknown, failed: Failed): unknown {
  if (!(error instanceof ServiceCallError)) return error;
  return new CommandError(nameFlags(error, failed), {
    exitCode: error.exitCode,
    reason: error.reason,
    body: error.body,
    next: nextOf(error, failed),
    cause: error,
  });
}

/** Replaces the names of fields in a message by those of their flags. */
function nameFlags(error: ServiceCallError, { contract, found }: Failed): string {
  const fields = fieldsOf(contract, found.method);
  return error.violations.reduce((message, { field }) => {
    const [name = ""] = field.split(/[.[]/, 1);
    const known = fields.find((each) => each.name === name);
    return known === undefined ? message : message.replace(`${field}: `, `--${flagOf(known)}: `);
  }, error.message);
}

function nextOf(error: ServiceCallError, { verb, found, contract }: Failed): string | undefined {
  const { segments, method } = found;
  const path = segments.join("/");
  switch (error.reason) {
    case "TOKEN_MISSING":
    case "TOKEN_INVALID":
      return "tenantry login";
    case "PERMISSION_DENIED":
      return nextOfDenial(error.metadata, segments);
    case "RESOURCE_NOT_FOUND": {
      if (method.verb === "create") return nextOfLackingParent(error.metadata, contract);
      const collection = segments.slice(0, -1).join("/");
      const canList = contract.methods.some(
        (each) => each.verb === "list" && each.path === method.path.split("/").slice(0, -1).join("/"),
      );
      return canList ? `tenantry list ${collection}` : undefined;
    }
    case "RESOURCE_EXISTS":
      return found.newName === undefined ? undefined : `tenantry get ${path}/${found.newName}`;
    case "ETAG_STALE":
      return `tenantry get ${path}`;
    case "REVISION_EXPIRED": {
      const oldest = oldestOf(error);
      return oldest === undefined ? undefined : `tenantry ${kebab(verb)} ${path} ${momentFlag(verb)} ${oldest}`;
    }
    default:
      return error.violations.length > 0 ? `tenantry ${kebab(verb)} ${path} --help` : undefined;
  }
}

/** Returns the oldest moment that can be asked about, if the service says it. */
function oldestOf({ metadata }: ServiceCallError): string | undefined {
  return metadata["oldest_time"] ?? metadata["oldest_revision"];
}

/** Returns the flag of a verb that takes a moment in the past. */
const momentFlag = (verb: string): string =>
  verb === "rollback" ? "--to" : verb === "query" ? "--from-time" : "--as-of";

/** Returns how to create what a creation refers to, or is in, if that can be created. */
function nextOfLackingParent({ resource = "" }: ServiceCallError["metadata"], contract: Contract): string | undefined {
  const segments = resource.split("/").filter((each) => each !== "");
  // What is named by its id was there.
  if (segments.some((each) => each.startsWith("@"))) return undefined;
  const found = methodAt(contract, "create", segments);
  return found?.newName === undefined ? undefined : `tenantry create ${segments.join("/")}`;
}

/** Returns what helps a caller who lacks a permission: what it may ask the service, or whom it can ask, and for what. */
function nextOfDenial(
  { permission, role, state, narrowed_by: narrowedBy }: ServiceCallError["metadata"],
  segments: readonly string[],
): string | undefined {
  if (permission === undefined || state !== undefined) return undefined;
  const scope = scopeOf(segments);
  // The service names a role to those only who may ask it for an explanation.
  if (role !== undefined) return `tenantry explain me ${permission} ${scope}`;
  if (narrowedBy !== undefined) return "use a credential that is not narrowed: tenantry config lists yours";
  const [collection, name] = segments;
  const isOwned = (collection === "orgs" || collection === "customers") && name !== undefined && name !== "-";
  const granter = isOwned ? `an owner of /${collection}/${name}` : "the operator of the service";
  return `ask ${granter} for a role with ${permission}${isOwned ? ` on ${scope}` : ""}`;
}

/** Returns the org or project in which a path is, since permissions are held there; the path itself elsewhere. */
function scopeOf(segments: readonly string[]): string {
  const isInProject = segments[2] === "projects" && segments.length > 3;
  return `/${(segments[0] === "orgs" && segments.length > 1 ? segments.slice(0, isInProject ? 4 : 2) : segments).join("/")}`;
}

/** The same for questions about access, which name no flags. @param resourcePath about which the question is. */
export function explainAccessFailure(error: unknown, resourcePath: string): unknown {
  if (!(error instanceof ServiceCallError)) return error;
  const { message, exitCode, reason, body, status, metadata } = error;
  const segments = resourcePath.split("/").filter((each) => each !== "");
  const oldest = oldestOf(error);
  const nextByReason: Readonly<Record<string, string | undefined>> = {
    PERMISSION_DENIED: nextOfDenial(metadata, segments),
    REVISION_EXPIRED: oldest === undefined ? undefined : `ask with --as-of ${oldest}, or later`,
  };
  const next = status === 401 ? "tenantry login" : nextByReason[reason ?? ""];
  return new CommandError(message, { exitCode, reason, body, next, cause: error });
}
