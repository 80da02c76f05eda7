import type { Creation } from "./creation.ts";

export function permissionsBeyond(
  { request }: Extract<Creation, { readonly kind: "role" }>,
  permissions: string | readonly string[] = [],
): string[] {
  const wanted = new Set(request.role?.permissions);
  return [permissions].flat().filter((permission) => !wanted.has(permission));
}
