// Authorises calls on resources, whose types define the permissions.
import { isDeepStrictEqual } from "node:util";
import type { Authorised, Requirement } from "../../access/evaluation/authorise.ts";
import type { ResolvedTarget } from "../../access/evaluation/resolved-target.ts";
import type { Visibility } from "../../access/evaluation/visibility.ts";
import { required } from "../../errors/required.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import type { AnyPath } from "../../paths/parse-path.ts";
import type { PermissionType, TypePermissions } from "../../resources/type-permissions.ts";
import { checkItems } from "../../standard-methods/batch/batch-item.ts";
import { whenReady } from "../../scheduling/when-ready.ts";
import type { MethodRules } from "../method-rules.ts";
import type { PermissionsOfItem } from "./authorise-items.ts";
import { type RequestFields, readTarget } from "./read-paths.ts";

interface OfCaller {
  readonly decide: (requirement: Requirement, path: AnyPath) => Promise<Authorised>;
  readonly decideItems: (permissionsOf: PermissionsOfItem, parent: ResolvedTarget) => Promise<void>;
  readonly visibility: (path: AnyPath) => Visibility | Promise<Visibility>;
}

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
  { decide, decideItems, visibility }: OfCaller,
  { typedPermission, target, listVisibility }: MethodRules,
  message: RequestFields,
): Promise<Authorised> {
  const path = readTarget(target, message);
  const permission = required(typedPermission);
  const require: Require = (each) => decide({ permission: each, listVisibility }, path);
  if (permission.endsWith(".list")) return authoriseList(types, require);
  const verb = verbOf(permission, message);
  // For a type that does not exist, callers who may create resources of every type get the error of the handler.
  const requireOnType = (type: PermissionType | undefined): Promise<Authorised> =>
    require(type === undefined ? permission : `${type.prefix}.${verb}`);
  const requireOnResource = async (type: PermissionType | undefined): Promise<Authorised> => {
    try {
      const authorised = await require(type === undefined ? `${ofAnyType}.get` : `${type.prefix}.${verb}`);
      return { ...authorised, visibleTypes: type === undefined ? [] : [type.id] };
    } catch (denial) {
      if (type !== undefined && (await mayRead(require, type))) throw denial;
      return require(permission);
    }
  };
  const { requests, paths } = message;
  if (requests !== undefined) {
    return onEach(await typesOfNew(types, requests as readonly RequestFields[]), requireOnType);
  }
  if (paths !== undefined) {
    const found = await types.ofResourcesIn(path, (paths as readonly string[]).slice(0, maxItems));
    const authorised = await onEach(found, requireOnResource);
    // What does not exist yet may be of any of the types by the time the call acts.
    const permissions = [...new Set(found.flatMap((type) => (type === undefined ? [] : [`${type.prefix}.${verb}`])))];
    await decideItems(
      (index) => (found[index] === undefined ? permissions : [`${found[index].prefix}.${verb}`]),
      authorised.target,
    );
    return authorised;
  }
  if (message["parentPath"] !== undefined) return requireOnType(await typeOfNew(types, message, ""));
  // Through `-`, the same permission is required for a resource that the caller does not see as for one that does not exist.
  return requireOnResource(await whenReady(visibility(path), (visible) => types.ofResource(path, visible)));
}

/** How many items of a batch are authorised. Validation rejects longer batches later. */
const maxItems = 100;

/**
 * Authorises a batch in one project for each of the types in it.
 *
 * @param types undefined for what does not exist.
 */
async function onEach(
  types: readonly (PermissionType | undefined)[],
  require: (type: PermissionType | undefined) => Promise<Authorised>,
): Promise<Authorised> {
  const distinct = new Map(types.map((type) => [type?.id, type]));
  const authorised: Authorised[] = [];
  for (const type of distinct.values()) authorised.push(await require(type));
  const [first] = authorised;
  // Validation rejects a batch without items.
  if (first === undefined) return require(undefined);
  return { ...first, visibleTypes: authorised.flatMap(({ visibleTypes = [] }) => visibleTypes) };
}

/** Returns the types that a BatchCreate names. Validation rejects items without a type later. */
async function typesOfNew(
  types: TypePermissions,
  requests: readonly RequestFields[],
): Promise<(PermissionType | undefined)[]> {
  const named = [...requests.slice(0, maxItems).entries()].filter(([, request]) => typePathOf(request) !== "");
  return checkItems(named, ([index, request]) => typeOfNew(types, request, `requests[${index}].`));
}

function verbOf(permission: string, message: RequestFields): string {
  const verb = required(permission.split(".").at(-1));
  return verb === "{operation}" ? String(message["operation"]) : verb;
}

async function typeOfNew(
  types: TypePermissions,
  message: RequestFields,
  item: string,
): Promise<PermissionType | undefined> {
  const field = `${item}resource.type_path`;
  const typePath = typePathOf(message);
  if (typePath === "") throw invalidField(field, "must be set", "required");
  return types.ofPath(typePath, field);
}

function typePathOf(message: RequestFields): string {
  return (message["resource"] as { readonly typePath: string } | undefined)?.typePath ?? "";
}

async function mayRead(require: Require, { prefix }: PermissionType): Promise<boolean> {
  for (const permission of [`${prefix}.get`, `${ofAnyType}.get`]) {
    if (!((await require(permission).catch(toDenial)) instanceof ServiceError)) return true;
  }
  return false;
}

/**
 * Authorises a list with the types that the caller may list. It may list all of them in the same orgs, as far as nothing changes
 * meanwhile: a custom role is granted only in the caller's own org, and a predefined one holds the permission for all types or for
 * none.
 *
 * @throws ServiceError SERVICE_UNAVAILABLE when the orgs differ: one condition on orgs and one on types would show too much.
 */
async function authoriseList(types: TypePermissions, require: Require): Promise<Authorised> {
  const denied = await require(`${ofAnyType}.list`).catch(toDenial);
  if (!(denied instanceof ServiceError)) return denied;
  let authorised: Authorised | undefined;
  const visibleTypes: string[] = [];
  for (const { id, prefix } of await types.all()) {
    const decided = await require(`${prefix}.list`).catch(toDenial);
    if (decided instanceof ServiceError) continue;
    authorised ??= decided;
    if (!isDeepStrictEqual(decided.visible, authorised.visible)) {
      throw new ServiceError("SERVICE_UNAVAILABLE", "what the caller may list has changed during the call; try again");
    }
    visibleTypes.push(id);
  }
  if (authorised === undefined) throw denied;
  return { ...authorised, visibleTypes };
}

function toDenial(error: unknown): ServiceError {
  if (error instanceof ServiceError && error.reason === "PERMISSION_DENIED") return error;
  throw error;
}
