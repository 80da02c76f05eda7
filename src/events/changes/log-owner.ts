/** Whose log is read, by ids. */
export type LogOwner =
  | { readonly kind: "org"; readonly id: string }
  /** Its changes are in a log of its own, and those from before it had one in that of the org `system`. */
  | { readonly kind: "customer"; readonly id: string; readonly systemOrgId: string }
  | { readonly kind: "platform" };

/** What all entries that match a condition have in common, for which there is an index. */
export interface Pinned {
  /** The org in whose log they are, or the customer. */
  readonly orgId: string | undefined;
  /** Whether they have the same actor. */
  readonly actor: boolean;
}
