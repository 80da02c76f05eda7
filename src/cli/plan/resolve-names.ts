// The name in the API of an original in a file. A valid name is its own. Another original has a made-up name, under which only its own
// resource is found, since the name depends on nothing else. Where there is no such resource yet, one that somebody else may own is
// never taken for it: one with a name of earlier versions must have the original as its display name, too, which is all that an import
// keeps of the original. One that has only one of the two may be the original's or not, and the file has to say which. So may an org that
// has both: orgs belong to different customers, and the owner of each sets its display name.
import { isName } from "../../paths/parse-path.ts";
import { nameKey } from "../../org-files/names/name-key.ts";
import { printable } from "../printable.ts";
import type { Kind } from "./creation.ts";
import { formerNamesOf, makeUpName } from "../../org-files/names/made-up-names.ts";

/** An existing resource among those that originals may stand for. */
export interface Sibling {
  readonly name: string;
  readonly displayName: string;
}

/** Reports an original that has no name, and what to write instead. */
export type Refuse = (original: string, problem: string) => void;

const mostShown = 3;

/**
 * Returns the names of siblings, by the `nameKey` of their originals. They are distinct, unless one is refused.
 *
 * @param existing the resources among which those of the originals are looked up.
 */
export function resolveNames(
  kind: Kind,
  originals: readonly string[],
  existing: Iterable<Sibling>,
  refuse: Refuse,
): ReadonlyMap<string, string> {
  const wanted = new Map(originals.map((original) => [nameKey(original), original]));
  const named = new Map(Array.from(wanted.keys(), (key) => [key, isName(key) ? key : makeUpName(key)]));
  const siblings = indexSiblings(existing);
  const taken = new Set(named.values());
  for (const [key, name] of named) {
    if (isName(key) || siblings.byName.has(name)) continue;
    const found = findResembling(kind, key, siblings);
    if (found.own !== undefined) {
      named.set(key, found.own.name);
      continue;
    }
    const others = found.others.filter((sibling) => !taken.has(sibling.name));
    if (others.length > 0) refuse(wanted.get(key) ?? key, explainOthers(kind, wanted.get(key) ?? key, name, others));
  }
  refuseShared(kind, named, wanted, refuse);
  return named;
}

interface SiblingIndex {
  readonly byName: ReadonlyMap<string, Sibling>;
  readonly byDisplayName: ReadonlyMap<string, readonly Sibling[]>;
}

function indexSiblings(existing: Iterable<Sibling>): SiblingIndex {
  const all = [...existing];
  return {
    byName: new Map(all.map((sibling) => [sibling.name, sibling])),
    byDisplayName: Map.groupBy(all, ({ displayName }) => nameKey(displayName)),
  };
}

/** Finds the resource that an earlier version created for an original, or all that may be the original's. */
function findResembling(
  kind: Kind,
  key: string,
  { byName, byDisplayName }: SiblingIndex,
): { readonly own?: Sibling; readonly others: readonly Sibling[] } {
  const byFormerName = formerNamesOf(key).flatMap((name) => byName.get(name) ?? []);
  const [own, ...more] = byFormerName.filter(({ displayName }) => kind !== "org" && nameKey(displayName) === key);
  if (own !== undefined && more.length === 0) return { own, others: [] };
  return { others: [...new Set([...byFormerName, ...(byDisplayName.get(key) ?? [])])] };
}

function explainOthers(kind: Kind, original: string, name: string, others: readonly Sibling[]): string {
  const shown = others
    .slice(0, mostShown)
    .map((other) => `the ${kind} ${other.name} (display name "${printable(other.displayName)}")`)
    .join(" or ");
  const own = others
    .slice(0, mostShown)
    .map((other) => `"${other.name}"`)
    .join(" or ");
  return `may be ${shown}, or another one; if it is, write ${own} in place of "${printable(original)}" everywhere in the file, and if not, another name, such as "${name}"`;
}

/** Refuses originals that stand for one resource. */
function refuseShared(
  kind: Kind,
  named: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, string>,
  refuse: Refuse,
): void {
  const byName = Map.groupBy(named.keys(), (key) => named.get(key) ?? "");
  for (const [name, keys] of byName) {
    if (keys.length === 1) continue;
    const [first = "", ...others] = keys.toSorted((one, other) => Number(isName(one)) - Number(isName(other)));
    const shown = others.map((key) => `"${printable(wanted.get(key) ?? key)}"`).join(" and ");
    refuse(
      wanted.get(first) ?? first,
      `would be the ${kind} ${name}, as ${shown} would; write "${name}" for both if they are one, and another name for one of them if not`,
    );
  }
}
