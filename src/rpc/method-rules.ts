import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { type Authorization, authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import type { Trims } from "../access/authorise.ts";
import { type AnyPathField, type TargetField, readAnyPathField, readTargetField } from "./path-fields.ts";

export interface MethodRules {
  /** `iam.v1alpha.MembersService/GetMember` */
  readonly name: string;
  /** What the caller must hold; undefined where anybody may call. */
  readonly permission: string | undefined;
  /**
   * What the caller must hold besides, on what the resource is in, when the request sets `allow_missing`: an update that may
   * create. Undefined for methods that never do.
   */
  readonly createPermission: string | undefined;
  /** Where the request says on which resource; undefined for methods on the platform as a whole. */
  readonly target: TargetField | undefined;
  /** The same for questions about anything, of ours or of other services. */
  readonly anyPath: AnyPathField | undefined;
  /** Which calls show what is in the orgs where the caller may list it, when it may not do so in all. */
  readonly trims: Trims;
  /** Whether it changes nothing. Every method that changes something takes `validate_only` (AIP-163). */
  readonly reads: boolean;
}

/** @throws Error that names the method when it has no option, or one that does not fit its request. */
export function readMethodRules(method: DescMethod): MethodRules {
  const name = `${method.parent.typeName}/${method.name}`;
  if (!hasOption(method, authorization)) throw new Error(`${name} has no (iam.v1alpha.authorization) option`);
  const option = getOption(method, authorization);
  const problem = findProblem(method, option);
  if (problem !== undefined) throw new Error(`${name}: ${problem}`);
  const { permission, pathField, anyone, createPermission, listsAllOrgs } = option;
  const [reads, isPaged] = [!takes(method, "validate_only"), takes(method, "page_size")];
  const anyPath = readAnyPathField(method, pathField);
  const target =
    pathField === "" || anyPath !== undefined
      ? undefined
      : readTargetField(method, name, pathField, { reads, isPaged });
  return {
    name,
    permission: anyone ? undefined : permission,
    createPermission: createPermission === "" ? undefined : createPermission,
    target,
    anyPath,
    trims: trimsOf(listsAllOrgs, isPaged && target !== undefined),
    reads,
  };
}

function trimsOf(listsAllOrgs: boolean, listsBelowParents: boolean): Trims {
  if (listsAllOrgs) return "always";
  return listsBelowParents ? "any org" : "never";
}

function findProblem(method: DescMethod, option: Authorization): string | undefined {
  const { permission, pathField, anyone, createPermission, listsAllOrgs } = option;
  if (anyone) {
    const asked = [permission, pathField, createPermission].some((field) => field !== "") || listsAllOrgs;
    return asked ? "what anyone may call needs no permission" : undefined;
  }
  if (!isPermission(permission)) return `the permission ${describePermission(permission)}`;
  const mayCreate = takes(method, "update_mask") && takes(method, "allow_missing");
  if (mayCreate && createPermission === "") return "it takes allow_missing, but has no create_permission";
  if (!mayCreate && createPermission !== "") return "it has a create_permission, but does not take allow_missing";
  if (mayCreate && !isPermission(createPermission)) {
    return `the create_permission ${describePermission(createPermission)}`;
  }
  if (listsAllOrgs && !takes(method, "page_size")) return "it has lists_all_orgs, but does not take page_size";
  return undefined;
}

function takes({ input }: DescMethod, field: string): boolean {
  return input.fields.some(({ name }) => name === field);
}

function isPermission(text: string): boolean {
  return /^[a-z]+\.[a-zA-Z]+\.[a-zA-Z]+$/.test(text);
}

function describePermission(text: string): string {
  return `${JSON.stringify(text)} is not <area>.<collection>.<verb>`;
}
