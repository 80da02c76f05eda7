import { brokenRules } from "../file/contract-rules.ts";
import type { Kind } from "./creation.ts";
import { nameKey } from "../../org-files/names/name-key.ts";

/** An entry whose name is not valid in the API. */
export interface RenamedEntry {
  readonly kind: Kind;
  readonly original: string;
  readonly name: string;
  /** Whether the original is also not valid as a display name, so that it is not stored anywhere. */
  readonly isLost: boolean;
}

/** Siblings with their names in the API. */
export interface Naming<Entry> {
  readonly named: readonly {
    readonly entry: Entry;
    readonly name: string;
    /** The API fields that all resources share. */
    readonly fields: { readonly name: string; readonly displayName: string; readonly description: string };
  }[];
  readonly renamed: readonly RenamedEntry[];
  /** Returns the name for an original name; undefined if no sibling has it. */
  nameOf(original: string): string | undefined;
}

/**
 * Gives siblings their names. If an entry has no display name, the original name becomes the display name of a renamed entry.
 *
 * @param names from `resolveNames`.
 */
export function createNaming<Entry extends { name: string; displayName?: string; description: string }>(
  kind: Kind,
  entries: readonly Entry[],
  names: ReadonlyMap<string, string>,
): Naming<Entry> {
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
