import { type Creation, type Kind, kinds } from "./creation.ts";
import { identityOf } from "./identity-of.ts";

/** The resources of one kind that exist, and those to create. */
export interface Stage {
  readonly kind: Kind;
  readonly missing: readonly Creation[];
  readonly existing: number;
}

/**
 * Plans the creations of an import by kind.
 *
 * @param existing the identities of all existing resources.
 */
export function planImport(creations: readonly Creation[], existing: Pick<ReadonlySet<string>, "has">): Stage[] {
  const byKind = Map.groupBy(creations, ({ kind }) => kind);
  return kinds.map((kind) => {
    const all = byKind.get(kind) ?? [];
    const missing = all.filter((creation) => !existing.has(identityOf(creation)));
    return { kind, missing, existing: all.length - missing.length };
  });
}
