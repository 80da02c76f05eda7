import { roleContentsTexts } from "../../texts/role-contents-texts.ts";
import { texts } from "../../texts/texts.ts";
import { typeInWords } from "../../texts/type-in-words.ts";
import { groupPermissions, isWildcard, verbOf } from "./permission-groups.ts";

/** Verbs that leave everything as it is. */
const reading: ReadonlySet<string> = new Set(["get", "list", "check", "explain", "export", "inspect", "plan"]);

/** The most kinds that a sentence names. */
const mostNamed = 5;

/** Says in a few sentences what a role with these permissions is for: how many there are, for what, and what it changes. */
export function roleInWords(permissions: readonly string[]): string {
  if (permissions.includes("*")) return roleContentsTexts.everything;
  if (permissions.length === 0) return texts.roles.noPermissions;
  const groups = groupPermissions(permissions);
  const wildcards = permissions.filter(isWildcard).map((name) => `${texts.roles.wildcards[name] ?? name}.`);
  const changed = groups.filter((group) => group.permissions.some((name) => !reading.has(verbOf(name))));
  const names = changed.map(({ collection }) => typeInWords(verbOf(collection)));
  const writes = permissions.some((name) => isWildcard(name) && !reading.has(verbOf(name)));
  return [
    groups.length === 0 ? "" : roleContentsTexts.count(permissions.length - wildcards.length, groups.length),
    ...(names.length > 0 ? [roleContentsTexts.changes(listed(names))] : writes ? [] : [roleContentsTexts.reads]),
    ...wildcards,
  ]
    .filter(Boolean)
    .join(" ");
}

/** Writes names one after the other, and of many only how many there are besides the first. */
function listed(names: readonly string[]): string {
  const left = names.length - mostNamed;
  return [...names.slice(0, mostNamed), ...(left > 0 ? [roleContentsTexts.more(left)] : [])].join(", ");
}
