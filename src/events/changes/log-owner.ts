/** Whose log is read, by ids. */
export type LogOwner =
  | { readonly kind: "org"; readonly id: string }
  /** Its changes are in the log of the org `system`. */
  | { readonly kind: "customer"; readonly id: string; readonly systemOrgId: string }
  | { readonly kind: "platform" };
