import { createHash } from "node:crypto";

const longestName = 64;
const hashLength = 12;

/**
 * The name of a role binding, from who holds it and what: `sre-write`. It does not depend on which others there are, so
 * that the next import of a changed file finds it again. Those of one place all have different names, as long as no role
 * has a dash in its name: what stands after the last dash is the role, and a name is as long as can be just when its
 * start was cut and a hash of the whole stands in place of the rest.
 */
export function nameRoleBinding(subject: string, role: string): string {
  const name = `${subject}-${role}`;
  if (name.length < longestName) return name;
  const hash = createHash("sha256").update(subject).digest("hex").slice(0, hashLength);
  const end = `-${hash}-${role}`;
  return `${subject.slice(0, longestName - end.length)}${end}`;
}
