import type { RoleBinding } from "../../../gen/iam/v1alpha/role_binding_pb.ts";

/** Returns a short text for a resource of an org: `alice`, `alice in engineering` for a membership or subgroup. */
export function labelOf(path: string): string {
  const [, , org = "", , name = org, , inner] = path.split("/");
  return inner === undefined ? name : `${inner} in ${name}`;
}

/** Returns what a role binding grants, and its name: `member bob has the role owner on the org (bob-owner)`. */
export function labelOfRoleBinding({ path, name, rolePath, subjectPath }: RoleBinding): string {
  const [, , , collection, subject] = subjectPath.split("/");
  const kind = collection === "groups" ? "group" : "member";
  const [, , , , project, bindings] = path.split("/");
  const place = bindings === undefined ? "the org" : `the project ${project}`;
  return `${kind} ${subject} has the role ${labelOf(rolePath)} on ${place} (${name})`;
}
