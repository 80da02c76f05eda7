// A UUID as four 32-bit integers, in the order of its text.

/** Consecutive UUIDs, four integers each. */
export type PackedIds = Int32Array;

const byteTexts = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The value of each hexadecimal digit by its character code; -1 for other characters. */
const digitValues = Int32Array.from({ length: 128 }, (_, code) =>
  "0123456789abcdef".indexOf(String.fromCharCode(code).toLowerCase()),
);

const dash = 45;

/** Parses a UUID into the four integers. Returns false if the text is not a UUID; the integers are then undefined. */
export function readUuid(text: string, words: Int32Array): boolean {
  if (text.length !== 36 || text.charCodeAt(8) !== dash || text.charCodeAt(13) !== dash) return false;
  if (text.charCodeAt(18) !== dash || text.charCodeAt(23) !== dash) return false;
  return (
    readWord(text, 0, 4, words, 0) &&
    readWord(text, 9, 14, words, 1) &&
    readWord(text, 19, 24, words, 2) &&
    readWord(text, 28, 32, words, 3)
  );
}

/** Parses eight digits, four at each of two positions. Returns false if one is not a digit. */
function readWord(text: string, high: number, low: number, words: Int32Array, word: number): boolean {
  let value = 0;
  let signs = 0;
  for (let digit = 0; digit < 8; digit++) {
    const at = digit < 4 ? high + digit : low + digit - 4;
    const next = digitValues[text.charCodeAt(at)] ?? -1;
    value = (value << 4) | next;
    signs |= next;
  }
  words[word] = value;
  return signs >= 0;
}

export function formatUuidAt(ids: PackedIds, place: number): string {
  const word = (at: number): number => ids[place * 4 + at] as number;
  return formatUuid(word(0), word(1), word(2), word(3));
}

/** Returns the text of a UUID, in lowercase. */
export function formatUuid(word0: number, word1: number, word2: number, word3: number): string {
  const text = hex(word0) + hex(word1) + hex(word2) + hex(word3);
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

function hex(word: number): string {
  const byte = (shift: number): string => byteTexts[(word >>> shift) & 255] ?? "";
  return byte(24) + byte(16) + byte(8) + byte(0);
}
