import { brokenRules } from "./contract-rules.ts";
import type { Kind } from "./creation.ts";
import { mapNames } from "./map-names.ts";
import { nameKey } from "./name-key.ts";

/** An entry whose name the API does not take as it is. */
export interface RenamedEntry {
  readonly kind: Kind;
  readonly original: string;
  readonly name: string;
  /** Whether the original breaks the rules of display names too, so that it is kept nowhere. */
  readonly isLost: boolean;
}

/** Siblings and the names that they get. */
export interface Naming<Entry> {
  readonly named: readonly {
    readonly entry: Entry;
    readonly name: string;
    /** The fields that all resources share, for the API. */
    readonly fields: { readonly name: string; readonly displayName: string; readonly description: string };
  }[];
  readonly renamed: readonly RenamedEntry[];
  /** The name that the sibling with this original name got, if there is one. */
  nameOf(original: string): string | undefined;
}

/** Names siblings by `mapNames`. Where nothing else is said, an original name stays on as the display name. */
export function createNaming<Entry extends { name: string; displayName?: string; description: string }>(
  kind: Kind,
  entries: readonly Entry[],
): Naming<Entry> {
  const names = mapNames(entries.map(({ name }) => name));
  const nameOf = (original: string): string | undefined => names.get(nameKey(original));
  const renamed: RenamedEntry[] = [];
  const named = entries.map((entry) => {
    const { name: original, displayName: given = "", description } = entry;
    const name = nameOf(original) ?? "";
    const isRenamed = name !== original;
    const isLost = isRenamed && given === "" && brokenRules("displayName", original).length > 0;
    if (isRenamed) renamed.push({ kind, original, name, isLost });
    const displayName = isRenamed && given === "" && !isLost ? original : given;
    return { entry, name, fields: { name, displayName, description } };
  });
  return { named, renamed, nameOf };
}
