// Authorises calls on resources, whose types define the permissions.
import type { Authorised, Requirement } from "../access/evaluation/authorise.ts";
import { required } from "../errors/required.ts";
import { ServiceError, invalidField } from "../errors/service-error.ts";
import type { AnyPath } from "../paths/parse-path.ts";
import type { PermissionType, TypePermissions } from "../resources/type-permissions.ts";
import type { MethodRules } from "./method-rules.ts";
import { type RequestFields, readTarget } from "./read-paths.ts";

type Decide = (requirement: Requirement, path: AnyPath) => Promise<Authorised>;

/** Authorises with a permission. */
type Require = (permission: string) => Promise<Authorised>;

/** The permissions for resources of every type. */
const ofAnyType = "resources.resources";

/**
 * Authorises a call with the permission that the type of its resource defines. A caller who may read neither the resource nor
 * resources of all types does not learn whether it exists, or its type (AIP-211). A list is limited to the types that the caller
 * may list.
 *
 * @throws ServiceError PERMISSION_DENIED, PATH_INVALID or FIELD_INVALID
 */
export async function authoriseTyped(
  types: TypePermissions,
  decide: Decide,
  { typedPermission, target, listVisibility }: MethodRules,
  message: RequestFields,
): Promise<Authorised> {
  const path = readTarget(target, message);
  const permission = required(typedPermission);
  const require: Require = (each) => decide({ permission: each, listVisibility }, path);
  if (permission.endsWith(".list")) return authoriseList(types, require);
  const verb = verbOf(permission, message);
  if (message["parentPath"] !== undefined) {
    const type = await typeOfNew(types, message);
    // The handler says that there is no such type, to callers who may create resources.
    return require(type === undefined ? permission : `${type.prefix}.${verb}`);
  }
  const type = await types.ofResource(path);
  try {
    return await require(type === undefined ? `${ofAnyType}.get` : `${type.prefix}.${verb}`);
  } catch (denial) {
    if (type !== undefined && (await mayRead(require, type))) throw denial;
    return require(permission);
  }
}

function verbOf(permission: string, message: RequestFields): string {
  const verb = required(permission.split(".").at(-1));
  return verb === "{operation}" ? String(message["operation"]) : verb;
}

/** Returns the type that a Create names. */
function typeOfNew(types: TypePermissions, message: RequestFields): Promise<PermissionType | undefined> {
  const resource = message["resource"] as { readonly typePath: string } | undefined;
  const { typePath = "" } = resource ?? {};
  if (typePath === "") throw invalidField("resource.type_path", "must be set", "required");
  return types.ofPath(typePath, "resource.type_path");
}

async function mayRead(require: Require, { prefix }: PermissionType): Promise<boolean> {
  for (const permission of [`${prefix}.get`, `${ofAnyType}.get`]) {
    if (!((await require(permission).catch(toDenial)) instanceof ServiceError)) return true;
  }
  return false;
}

async function authoriseList(types: TypePermissions, require: Require): Promise<Authorised> {
  const denied = await require(`${ofAnyType}.list`).catch(toDenial);
  if (!(denied instanceof ServiceError)) return denied;
  let authorised: Authorised | undefined;
  const visibleTypes: string[] = [];
  for (const { id, prefix } of await types.all()) {
    const decided = await require(`${prefix}.list`).catch(toDenial);
    if (decided instanceof ServiceError) continue;
    authorised ??= decided;
    visibleTypes.push(id);
  }
  if (authorised === undefined) throw denied;
  return { ...authorised, visibleTypes };
}

function toDenial(error: unknown): ServiceError {
  if (error instanceof ServiceError && error.reason === "PERMISSION_DENIED") return error;
  throw error;
}
