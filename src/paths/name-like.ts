/**
 * Returns what is left of a text in the lowercase letters, digits and dashes of a name, without accents; empty if nothing is. It may be shaped
 * like an id, which no name is (`isName`).
 */
export function nameLike(text: string, maxLength: number): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, maxLength)
    .replaceAll(/^-|-$/g, "");
}
