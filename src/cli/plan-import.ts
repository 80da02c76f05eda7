import { type Creation, type Kind, kinds } from "./creation.ts";
import { identityOf } from "./identity-of.ts";

/** What is to be done about the resources of one kind. */
export interface Stage {
  readonly kind: Kind;
  readonly missing: readonly Creation[];
  /** How many are there. */
  readonly existing: number;
}

/** @param existing the identities of all resources that are there. */
export function planImport(creations: readonly Creation[], existing: ReadonlySet<string>): Stage[] {
  const byKind = Map.groupBy(creations, ({ kind }) => kind);
  return kinds.map((kind) => {
    const all = byKind.get(kind) ?? [];
    const missing = all.filter((creation) => !existing.has(identityOf(creation)));
    return { kind, missing, existing: all.length - missing.length };
  });
}
