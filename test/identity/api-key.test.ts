import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createApiKey, hashApiKey, isSameHash, parseApiKey } from "../../src/identity/api-key.ts";
import { apiKeyChecksum } from "./api-key-checksum.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const keys = Array.from({ length: 10_000 }, createApiKey);
const [{ secret, prefix, hash }] = keys as [ReturnType<typeof createApiKey>];

describe("an API key", () => {
  test("has the format that secret scanners detect", () => {
    // 9 fixed characters, 12 for the lookup, 32 secret ones, and 6 for the checksum.
    const form = /^tenantry_(?<handle>[0-9A-Za-z]{12})(?<secret>[0-9A-Za-z]{32})(?<checksum>[0-9A-Za-z]{6})$/;
    for (const key of keys) expect(key.secret).toMatch(form);
    expect(secret).toHaveLength(59);
  });

  test("ends with the CRC-32 of the preceding characters, in base 62", () => {
    for (const key of keys.slice(0, 100)) {
      expect(key.secret.slice(-6)).toBe(apiKeyChecksum(key.secret.slice(0, -6)));
    }
    // An example for authors of secret scanners.
    expect(apiKeyChecksum(`tenantry_${"0".repeat(44)}`)).toBe("1ty1iW");
  });

  test("is looked up by its first 21 characters, which are not secret", () => {
    for (const key of keys.slice(0, 100)) {
      expect(key.prefix).toBe(key.secret.slice(0, 21));
      expect(parseApiKey(key.secret)).toBe(key.prefix);
    }
  });

  test("is unique in each of its parts", () => {
    expect(new Set(keys.map((key) => key.secret)).size).toBe(keys.length);
    expect(new Set(keys.map((key) => key.prefix)).size).toBe(keys.length);
    expect(new Set(keys.map((key) => key.secret.slice(21, 53))).size).toBe(keys.length);
  });

  test("uses all 62 letters and digits with about the same frequency", () => {
    const counts = new Map<string, number>();
    for (const character of keys.map((key) => key.secret.slice(9, 53)).join("")) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    expect([...counts.keys()].toSorted().join("")).toBe(alphabet);
    const mean = (keys.length * 44) / 62;
    // Seven standard deviations, which a fair source exceeds about once in billions of runs.
    const slack = 7 * Math.sqrt(mean);
    expect([...counts].filter(([, count]) => Math.abs(count - mean) > slack)).toEqual([]);
  });

  test("is stored as its SHA-256", () => {
    expect(hash).toEqual(createHash("sha256").update(secret).digest());
    expect(hashApiKey(secret)).toEqual(hash);
    expect(prefix).toBe(secret.slice(0, 21));
  });
});

describe("a mistyped API key is rejected:", () => {
  test("one changed character", () => {
    const accepted: string[] = [];
    for (let at = 0; at < secret.length; at++) {
      for (const character of `${alphabet}_- `.replace(secret[at] ?? "", "")) {
        const typo = secret.slice(0, at) + character + secret.slice(at + 1);
        if (parseApiKey(typo) !== undefined) accepted.push(typo);
      }
    }
    expect(accepted).toEqual([]);
  });

  test("two adjacent characters swapped", () => {
    const swapped = keys.slice(0, 200).flatMap(({ secret: text }) =>
      Array.from({ length: text.length - 1 }, (_, at) => ({
        text,
        typo: text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2),
      })),
    );
    expect(swapped.filter(({ text, typo }) => typo !== text && parseApiKey(typo) !== undefined)).toEqual([]);
  });

  test("a missing or additional character", () => {
    for (let at = 0; at <= secret.length; at++) {
      expect(
        parseApiKey(secret.slice(0, at) + secret.slice(at + 1) + (at === secret.length ? "0" : "")),
      ).toBeUndefined();
      expect(parseApiKey(`${secret.slice(0, at)}0${secret.slice(at)}`)).toBeUndefined();
    }
  });

  test.each([
    "",
    "tenantry_",
    secret.toLowerCase(),
    secret.toUpperCase(),
    ` ${secret}`,
    `${secret} `,
    `${secret}\n`,
    `\n${secret}`,
    `${secret},${secret}`,
    secret.replace("tenantry_", "tenantri_"),
    secret.slice("tenantry_".length),
    `tenantry_${"0".repeat(50)}`,
  ])("%j", (text) => {
    expect(parseApiKey(text)).toBeUndefined();
  });

  test("any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^tenantry_[0-9A-Za-z]{50}$/)), (text) => {
        expect(parseApiKey(text)).toBeUndefined();
      }),
    );
  });
});

test("hashes are equal only if all their bytes are", () => {
  expect(isSameHash(hash, Buffer.from(hash))).toBe(true);
  expect(isSameHash(hash, hash.subarray(1))).toBe(false);
  expect(isSameHash(hash, Buffer.alloc(0))).toBe(false);
  for (let at = 0; at < hash.length; at++) {
    const other = Buffer.from(hash);
    other.writeUInt8((hash.readUInt8(at) + 1) % 256, at);
    expect(isSameHash(hash, other)).toBe(false);
  }
});
