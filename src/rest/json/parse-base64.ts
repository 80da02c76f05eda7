/** Each alphabet alone, with the padding at the end only. */
const standard = /^[A-Za-z0-9+/]*={0,2}$/;
const urlSafe = /^[A-Za-z0-9_-]*={0,2}$/;

/**
 * Parses base64 in the standard or the URL-safe alphabet, with the whole padding or without any.
 *
 * @returns undefined for other text, such as text with white space, which Buffer.from would skip.
 */
export function parseBase64(text: string): Uint8Array | undefined {
  if (!standard.test(text) && !urlSafe.test(text)) return undefined;
  const isWhole = text.endsWith("=") ? text.length % 4 === 0 : text.length % 4 !== 1;
  return isWhole ? new Uint8Array(Buffer.from(text, "base64")) : undefined;
}
