import { createHash } from "node:crypto";

const longestName = 64;
const hashLength = 12;

/**
 * Returns the name of a role binding, from its subject and role: `sre-write`. It does not depend on other bindings, so an
 * import of a changed file finds the same binding. Names on one resource are distinct if no role has a dash in its name: the
 * text after the last dash is the role, and a name has the maximum length only if its subject was truncated and has a hash.
 */
export function nameRoleBinding(subject: string, role: string): string {
  const name = `${subject}-${role}`;
  if (name.length < longestName) return name;
  const hash = createHash("sha256").update(subject).digest("hex").slice(0, hashLength);
  const end = `-${hash}-${role}`;
  return `${subject.slice(0, longestName - end.length)}${end}`;
}
