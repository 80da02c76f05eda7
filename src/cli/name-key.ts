/** What a name is compared by: names in a file are the same whatever their case. */
export function nameKey(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
