/** How the secrets of API keys begin, and how much of them identifies a key to people. */
const keyPrefix = /tenantry_[0-9A-Za-z]{12}/;

/**
 * Returns what may be sent of a text that somebody searches for: if an API key is anywhere in it, such as in `TENANTRY_API_KEY=tenantry_...`
 * or `Bearer tenantry_...`, only the prefix of the key.
 */
export function withoutSecret(text: string): string {
  const [prefix = text] = keyPrefix.exec(text) ?? [];
  return prefix;
}
