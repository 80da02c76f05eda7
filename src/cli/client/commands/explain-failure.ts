// Says what to run next after the service has refused a call, and names fields as flags.
import { CommandError } from "../command-error.ts";
import type { Contract } from "../contract/contract.ts";
import { fieldsOf } from "../arguments/flags.ts";
import type { FoundMethod } from "../contract/find-method.ts";
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
    case "PERMISSION_DENIED": {
      const { permission } = error.metadata;
      return permission === undefined ? undefined : `tenantry explain me ${permission} ${scopeOf(segments)}`;
    }
    case "RESOURCE_NOT_FOUND": {
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
    default:
      return error.violations.length > 0 ? `tenantry ${kebab(verb)} ${path} --help` : undefined;
  }
}

/** Returns the org or project in which a path is, since permissions are held there; the path itself elsewhere. */
function scopeOf(segments: readonly string[]): string {
  const isInProject = segments[2] === "projects" && segments.length > 3;
  return `/${(segments[0] === "orgs" && segments.length > 1 ? segments.slice(0, isInProject ? 4 : 2) : segments).join("/")}`;
}

/** The same for questions about access, which name no flags. */
export function explainAccessFailure(error: unknown): unknown {
  if (!(error instanceof ServiceCallError)) return error;
  const next = error.exitCode === 4 && error.status === 401 ? "tenantry login" : undefined;
  const { message, exitCode, reason, body } = error;
  return new CommandError(message, { exitCode, reason, body, next, cause: error });
}
