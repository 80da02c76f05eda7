import type { OrgSnapshot } from "../org-snapshot.ts";

/**
 * The role bindings that count in a decision: all that apply to the subject, or only those with these ids, which are exact in
 * snapshots at these revisions.
 */
export type CountedBindings = "all" | { readonly ids: ReadonlySet<string>; readonly revisions: readonly string[] };

export function isCounted({ bindings }: OrgSnapshot, counted: CountedBindings, binding: number): boolean {
  return counted === "all" || counted.ids.has(bindings.idOf(binding));
}
