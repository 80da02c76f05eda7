import type { Creation } from "./creation.ts";

/** Returns which of a role's permissions the role of a creation does not have. */
export function permissionsBeyond(
  { request }: Extract<Creation, { readonly kind: "role" }>,
  permissions: string | readonly string[] = [],
): string[] {
  const wanted = new Set(request.role?.permissions);
  return [permissions].flat().filter((permission) => !wanted.has(permission));
}
