/** Returns the key by which names are compared: names in a file are case-insensitive. */
export function nameKey(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
