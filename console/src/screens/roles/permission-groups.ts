/** The permissions on the resources of one collection, such as `iam.members`. */
export interface PermissionGroup {
  /** Such as `iam.members`. */
  readonly collection: string;
  /** In full, such as `iam.members.get`. */
  readonly permissions: readonly string[];
}

/** Groups permissions by the collections that they are for, in the order of names. Wildcards belong to no collection. */
export function groupPermissions(permissions: Iterable<string>): readonly PermissionGroup[] {
  const names = [...permissions].filter((name) => !isWildcard(name)).toSorted();
  const groups = Map.groupBy(names, (name) => name.slice(0, name.lastIndexOf(".")));
  return [...groups].map(([collection, own]) => ({
    collection,
    permissions: own,
  }));
}

export const isWildcard = (permission: string): boolean => permission.includes("*");

/** Returns the verb of a permission, its last part. */
export const verbOf = (permission: string): string => permission.slice(permission.lastIndexOf(".") + 1);

/** The areas of the service itself. Of its wildcards, only `*` stands for them. */
const ownAreas = ["iam.", "resources."];

/**
 * Returns the permissions of a role by their names, as a role of an org has them: those that a wildcard stands for instead of it.
 *
 * @param known what a wildcard can stand for.
 */
export function withoutWildcards(permissions: readonly string[], known: readonly string[]): string[] {
  const ofOthers = known.filter((name) => !ownAreas.some((area) => name.startsWith(area)));
  const named = permissions.flatMap((permission) => {
    if (!isWildcard(permission)) return [permission];
    return permission === "*" ? known : ofOthers.filter(permissionSearch(permission));
  });
  return [...new Set(named)];
}

/**
 * Returns which permissions somebody searches for: those that have all words, or those that are like a pattern. `*` stands for any text
 * in a part of a pattern, and for all parts that follow when it is the last: `iam.*` is all of `iam`.
 */
export function permissionSearch(words: string): (permission: string) => boolean {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const tests = wanted.map((word) => (word.includes("*") ? isLike(word.split(".")) : hasWord(word)));
  return (permission) => tests.every((test) => test(permission.toLowerCase()));
}

type Test = (permission: string) => boolean;

const hasWord =
  (word: string): Test =>
  (permission) =>
    permission.includes(word);

function isLike(pattern: readonly string[]): Test {
  return (permission) => {
    const parts = permission.split(".");
    const fits = pattern.every((wanted, index) => isLikePart(wanted, parts[index]));
    return fits && (pattern.length === parts.length || pattern.at(-1) === "*");
  };
}

/** Whether a part has the texts between the `*` of a pattern, in their order, and begins and ends with the outer ones. */
function isLikePart(pattern: string, part: string | undefined): boolean {
  if (part === undefined) return false;
  const [start = "", ...others] = pattern.split("*");
  const end = others.pop();
  if (end === undefined) return part === start;
  if (!part.startsWith(start)) return false;
  let from = start.length;
  for (const text of others) {
    const at = part.indexOf(text, from);
    if (at === -1) return false;
    from = at + text.length;
  }
  return part.length - end.length >= from && part.endsWith(end);
}

/** Whether a text has the form of a permission, such as `compute.instances.start`. */
export const isPermission = (text: string): boolean => /^[a-z][a-zA-Z0-9]*(\.[a-z][a-zA-Z0-9]*){2}$/.test(text);
