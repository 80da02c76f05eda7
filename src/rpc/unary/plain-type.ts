/**
 * Returns a content type in lowercase, with its charset, if that is UTF-8, in one spelling: `application/json; charset=utf-8`.
 *
 * Cuts the text at the semicolon instead of matching a pattern with spaces in it: a regular expression tries each space as the first one,
 * and fifteen thousand of them, which anybody can send, would stop all calls for a second.
 */
export function toPlainType(given: string): string {
  const type = given.toLowerCase();
  const end = type.indexOf(";");
  const isUtf8 = end !== -1 && /^charset="?utf-8"?$/.test(type.slice(end + 1).trim());
  return isUtf8 ? `${type.slice(0, end).trim()}; charset=utf-8` : type;
}
