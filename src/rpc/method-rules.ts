import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { type Authorization, authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import type { ListVisibility } from "../access/evaluation/authorise.ts";
import type { PathPattern } from "../paths/patterns.ts";
import type { CallLength } from "../scheduling/time-slices.ts";
import {
  type AnyPathField,
  type TargetField,
  readAnyPathField,
  readItemPatterns,
  readTargetField,
} from "./authorisation/path-fields.ts";
import { type MethodDeprecation, readDeprecation } from "./read-deprecation.ts";
import { takesField } from "./takes-field.ts";
import { isPermission } from "../access/engine/tables/permission-class.ts";

export interface MethodRules {
  /** `iam.v1alpha.MembersService/GetMember` */
  readonly name: string;
  /** The permission that the caller must hold; undefined if no permission is required, or if the resource's type defines it. */
  readonly permission: string | undefined;
  /** The permission that the type of the resource defines: `{service}.{collection}.get`. */
  readonly typedPermission: string | undefined;
  /**
   * The permission that the caller must also hold, on the resource's parent, when the request sets `allow_missing`, with which
   * an update may create. Undefined for methods without it.
   */
  readonly createPermission: string | undefined;
  /** Whether the call needs no credential besides what is in the request. */
  readonly unauthenticated: boolean;
  /** The field with the path of the resource; undefined for methods on the platform as a whole. */
  readonly target: TargetField | undefined;
  /** The patterns of what `paths` names, in the parent that is the target; undefined for methods other than BatchGet and BatchDelete. */
  readonly itemPatterns: readonly PathPattern[] | undefined;
  /** The field with the path of any resource, of this or another service, for access questions. */
  readonly anyPath: AnyPathField | undefined;
  /** Which List calls are restricted to the orgs in which the caller may list, if it may not list in all orgs. */
  readonly listVisibility: ListVisibility;
  /** Whether active members of the org of the path may make the call without the permission. */
  readonly openToMembers: boolean;
  /** Whether a request can ask for what was there earlier. */
  readonly readsPast: boolean;
  readonly deprecation: MethodDeprecation | undefined;
  /** Whether the method changes nothing. Every other method takes `validate_only` (AIP-163). */
  readonly reads: boolean;
  /** How calls share the processor. */
  readonly length: CallLength;
}

/** The verbs of methods for one resource or one question, if their messages have no lists. */
const shortVerbs: ReadonlySet<string> = new Set(
  "Get Create Update Delete Undelete Suspend Resume Activate Check Evaluate".split(" "),
);

/** @throws Error that names the method when the option is missing or does not fit the request. */
export function readMethodRules(method: DescMethod): MethodRules {
  const name = `${method.parent.typeName}/${method.name}`;
  if (!hasOption(method, authorization)) throw new Error(`${name} has no (iam.v1alpha.authorization) option`);
  const option = getOption(method, authorization);
  const problem = findAuthorizationProblem(method, option);
  if (problem !== undefined) throw new Error(`${name}: ${problem}`);
  const { permission, pathField, anyone, createPermission, listsAllOrgs, unauthenticated, openToMembers } = option;
  const [reads, isPaged] = [!takesField(method, "validate_only"), takesField(method, "page_size")];
  const anyPath = readAnyPathField(method, pathField);
  const target =
    pathField === "" || anyPath !== undefined
      ? undefined
      : readTargetField(method, name, pathField, { reads, namesParents: namesParents(method, permission) });
  return {
    name,
    permission: anyone || isTyped(permission) ? undefined : permission,
    typedPermission: isTyped(permission) ? permission : undefined,
    unauthenticated,
    createPermission: createPermission === "" ? undefined : createPermission,
    target,
    itemPatterns: readItemPatterns(method, name),
    anyPath,
    listVisibility: listVisibilityOf(listsAllOrgs, isPaged && target !== undefined),
    openToMembers,
    readsPast: target !== undefined && takesField(method, "as_of_revision"),
    deprecation: readDeprecation(method),
    reads,
    length: lengthOf(method),
  };
}

/**
 * Returns the length of calls: short if they are about one resource or one question, which takes a tenth of a millisecond or so, and
 * large if their messages have lists.
 */
function lengthOf(method: DescMethod): CallLength {
  if (method.input.fields.some(({ fieldKind }) => fieldKind === "list")) return "large";
  return shortVerbs.has(verbOf(method)) ? "short" : "long";
}

/** Returns the first word of a method's name: `Get` for `GetMember`. */
function verbOf({ name }: DescMethod): string {
  return /^[A-Z][a-z]*/.exec(name)?.[0] ?? name;
}

/** Whether the items of a batch name their parents, on each of which the same permission is required. */
function namesParents({ input }: DescMethod, permission: string): boolean {
  const requests = input.fields.find(({ name }) => name === "requests");
  return !isTyped(permission) && requests?.message?.fields.some(({ name }) => name === "parent_path") === true;
}

function listVisibilityOf(listsAllOrgs: boolean, listsBelowParents: boolean): ListVisibility {
  if (listsAllOrgs) return "always";
  return listsBelowParents ? "any org" : "never";
}

/** Returns a problem of a method's option, by itself or with its request; undefined if there is none. */
function findAuthorizationProblem(method: DescMethod, option: Authorization): string | undefined {
  const { permission, anyone, createPermission, renamePermission, listsAllOrgs, openToMembers } = option;
  if (anyone) {
    const asksForMore =
      [permission, createPermission, renamePermission].some((field) => field !== "") || listsAllOrgs || openToMembers;
    return asksForMore ? "a method that anyone may call must not have a permission" : undefined;
  }
  if (option.unauthenticated) return "a method without authentication must be one that anyone may call";
  if (!isTyped(permission) && !isPermission(permission)) return `the permission ${describePermission(permission)}`;
  const mayCreate = takesField(method, "update_mask") && takesField(method, "allow_missing");
  if (mayCreate && createPermission === "") return "it takes allow_missing, but has no create_permission";
  if (!mayCreate && createPermission !== "") return "it has a create_permission, but does not take allow_missing";
  if (mayCreate && !isPermission(createPermission)) {
    return `the create_permission ${describePermission(createPermission)}`;
  }
  if (renamePermission !== "" && !takesField(method, "update_mask")) {
    return "it has a rename_permission, but does not take update_mask";
  }
  if (renamePermission !== "" && !isPermission(renamePermission)) {
    return `the rename_permission ${describePermission(renamePermission)}`;
  }
  if (openToMembers && option.pathField === "") return "it is open to members, but has no path, of whose org they are";
  if (listsAllOrgs && !takesField(method, "page_size")) return "it has lists_all_orgs, but does not take page_size";
  return undefined;
}

/** Whether the type of the resource defines the permission: `{service}.{collection}.get`. */
function isTyped(permission: string): boolean {
  return /^\{service\}\.\{collection\}\.(\w+|\{operation\})$/.test(permission);
}

function describePermission(text: string): string {
  return `${JSON.stringify(text)} is not <area>.<collection>.<verb>`;
}
