import type { Creation } from "./creation.ts";

/** Returns a text that identifies the resource of a creation: its path and, for a role binding, its role and subject. */
export function identityOf(creation: Creation): string {
  return creation.kind === "role binding"
    ? identityOfRoleBinding({ ...creation.request.roleBinding, path: creation.path })
    : creation.path;
}

/**
 * Returns the identity of a role binding. Its name is not sufficient: since it was created, a group may have been renamed and
 * another one have got its name, or a member may have been deleted and created again.
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
