import type { Creation } from "./creation.ts";
import { identityOf } from "./identity-of.ts";
import type { Existing } from "./read-existing.ts";
import { permissionsBeyond } from "./permissions-beyond.ts";
import type { Fail } from "../file/read-shape.ts";
import { printable } from "../printable.ts";

/**
 * Checks that no resource of the org has the name of one that an import creates or grants, and is something else: a role that can do
 * more than the file's role, or a role binding of another role or subject.
 */
export function checkConflicts(creations: readonly Creation[], existing: Existing, fail: Fail): void {
  const byPath = new Map(Array.from(existing.values(), (resource) => [resource.path, resource]));
  const granted = new Set<string | undefined>();
  for (const creation of creations) {
    if (creation.kind !== "role binding" || existing.has(identityOf(creation))) continue;
    granted.add(creation.request.roleBinding?.rolePath);
    const other = byPath.get(creation.path);
    if (other !== undefined) {
      fail(`role binding ${creation.path}`, `is there already: ${other.label}; delete it, or give it another name`);
    }
  }
  for (const creation of creations) {
    if (creation.kind !== "role" || !granted.has(creation.path)) continue;
    const more = permissionsBeyond(creation, byPath.get(creation.path)?.fields["permissions"]);
    if (more.length === 0) continue;
    fail(
      `role ${creation.path}`,
      `is there already, and also has ${printable(more.join(", "))}, which the file does not grant; take this out of it, or give it another name`,
    );
  }
}
