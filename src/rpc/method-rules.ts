import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import type { Trims } from "../access/authorise.ts";
import { findAuthorizationProblem } from "./find-authorization-problem.ts";
import { type AnyPathField, type TargetField, readAnyPathField, readTargetField } from "./path-fields.ts";
import { takesField } from "./takes-field.ts";

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
  const problem = findAuthorizationProblem(method, option);
  if (problem !== undefined) throw new Error(`${name}: ${problem}`);
  const { permission, pathField, anyone, createPermission, listsAllOrgs } = option;
  const [reads, isPaged] = [!takesField(method, "validate_only"), takesField(method, "page_size")];
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
