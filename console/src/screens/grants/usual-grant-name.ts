import { nameOf } from "../../calls/paths.ts";

/** The most characters of a name. */
const longestName = 64;

/** Returns the name of a grant to which nobody has given one: that of whom it is for, and of the role. */
export function usualGrantName(subjectPath: string, rolePath: string): string {
  const name = `${nameOf(subjectPath)}-${nameOf(rolePath)}`.replaceAll("@", "").slice(0, longestName);
  return name.replace(/-+$/, "");
}
