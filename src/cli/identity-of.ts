import type { Creation } from "./creation.ts";

/** What tells whether that which should be there is there: its path and, of a role binding, what it grants to whom. */
export function identityOf(creation: Creation): string {
  return creation.kind === "role binding"
    ? identityOfRoleBinding({ ...creation.request.roleBinding, path: creation.path })
    : creation.path;
}

/**
 * The name of a role binding only hints at who holds what: a group may have been renamed since, and another one have its
 * name, or a member have been deleted and made anew.
 */
export function identityOfRoleBinding({
  path,
  subjectPath = "",
  rolePath = "",
}: {
  readonly path: string;
  readonly subjectPath?: string;
  readonly rolePath?: string;
}): string {
  return `${path} grants ${rolePath} to ${subjectPath}`;
}
