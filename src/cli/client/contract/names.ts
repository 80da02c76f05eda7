import type { Field } from "./contract.ts";

/** Returns `display-name` for `display_name`, and `revoke-tokens` for `revokeTokens`. */
export function kebab(name: string): string {
  return name.replaceAll("_", "-").replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Returns `quota-request` for `quota-requests`. What is no plural stays the same. */
export function singular(name: string): string {
  if (name.endsWith("ies")) return `${name.slice(0, -3)}y`;
  if (name.endsWith("sses")) return name.slice(0, -2);
  return /[^s]s$/.test(name) ? name.slice(0, -1) : name;
}

/** Returns the flag of a field: `--label` for the map `labels`, of which each flag gives one entry. */
export function flagOf({ name, shape }: Pick<Field, "name" | "shape">): string {
  return shape === undefined ? kebab(name) : singular(kebab(name));
}

/** Returns `an org` for `orgs/acme`. */
export function withArticle(noun: string): string {
  return `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;
}
