import { crc32 } from "node:zlib";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Computes the checksum at the end of an API key, as a secret scanner would: CRC-32, base 62, six digits. */
export function apiKeyChecksum(body: string): string {
  const value = crc32(body);
  return [5, 4, 3, 2, 1, 0].map((power) => digits[Math.floor(value / 62 ** power) % 62]).join("");
}
