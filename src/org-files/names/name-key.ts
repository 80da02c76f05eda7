/**
 * Returns the key by which names are compared: without case, and however their accents are encoded (Unicode's NFC). A lowercase
 * letter may have an accented form where its capital has none, so the key is normalized at the end.
 */
export function nameKey(name: string): string {
  return name.normalize("NFC").toLowerCase().normalize("NFC");
}
