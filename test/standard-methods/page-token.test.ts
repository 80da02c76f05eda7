import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPageTokens } from "../../src/standard-methods/read/page-token.ts";
import { thrownBy } from "../paths/service-failure.ts";

const tokens = createPageTokens(randomBytes(32));
const text = fc.string({ unit: "binary", maxLength: 40 });
const cursor = fc.array(text, { minLength: 1, maxLength: 3 });
const binding = fc.array(text, { maxLength: 4 });

const refusal = {
  reason: "PAGE_TOKEN_INVALID",
  message:
    "page_token: must be the next_page_token of an earlier response to the same request (only page_size may differ)",
  violations: [{ field: "page_token", rule: "page_token" }],
};

describe("a page token", () => {
  test("is read back as the cursor from which it was made", () => {
    fc.assert(
      fc.property(cursor, binding, (position, bound) => {
        expect(tokens.decode(tokens.encode(position, bound), bound)).toEqual(position);
      }),
    );
  });

  test("has only characters that need no escaping in a URL, and fits the limit of requests with three ids", () => {
    const id = "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b";
    const token = tokens.encode([id, id, id], ["ApiKey", "/orgs/-", "false"]);
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(token.length).toBeLessThan(1024);
  });

  test("is refused if any of its characters is changed", () => {
    const token = tokens.encode(["01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b"], ["Org", "", "false"]);
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \n";
    for (let at = 0; at < token.length; at++) {
      for (const character of alphabet.replace(token[at] ?? "", "")) {
        const tampered = token.slice(0, at) + character + token.slice(at + 1);
        expect(
          thrownBy(() => tokens.decode(tampered, ["Org", "", "false"])),
          tampered,
        ).toMatchObject(refusal);
      }
    }
  });

  test("is refused if anything is removed or added", () => {
    fc.assert(
      fc.property(
        cursor,
        binding,
        fc.nat(),
        fc.constantFrom("", "A", "=", "!", " ", "\n", "é"),
        (position, bound, at, added) => {
          const token = tokens.encode(position, bound);
          const cut = at % token.length;
          const tampered = [
            token.slice(0, cut) + added + token.slice(cut + 1),
            `${token.slice(0, cut)}${added || "B"}${token.slice(cut)}`,
            token.slice(0, cut),
            token + (added || "C"),
          ];
          for (const other of tampered.filter((candidate) => candidate !== token)) {
            expect(thrownBy(() => tokens.decode(other, bound)).reason).toBe("PAGE_TOKEN_INVALID");
          }
        },
      ),
    );
  });

  test("is refused for other arguments than those for which it was made", () => {
    fc.assert(
      fc.property(cursor, binding, binding, (position, bound, other) => {
        fc.pre(JSON.stringify(bound) !== JSON.stringify(other));
        const token = tokens.encode(position, bound);
        expect(thrownBy(() => tokens.decode(token, other)).reason).toBe("PAGE_TOKEN_INVALID");
      }),
    );
  });

  test.each([
    [
      ["ab", "c"],
      ["a", "bc"],
    ],
    [["a", "b"], ["a,b"]],
    [["a"], ["a", ""]],
    [[], [""]],
  ])("made for %j is refused for %j", (bound, other) => {
    expect(thrownBy(() => tokens.decode(tokens.encode(["x"], bound), other))).toMatchObject(refusal);
  });

  test("is read by every server with the key, and refused with another key", () => {
    const key = randomBytes(32);
    const token = createPageTokens(key).encode(["x"], ["Org"]);
    expect(createPageTokens(Buffer.from(key)).decode(token, ["Org"])).toEqual(["x"]);
    expect(thrownBy(() => tokens.decode(token, ["Org"]))).toMatchObject(refusal);
  });

  test.each(["", "x", "null", "AAAAAAAAAAAAAAAAAAAAAA", "[]", "💥", " ", "\0", "%00", "=".repeat(1024)])(
    "is refused when it is none: %j",
    (garbage) => {
      expect(thrownBy(() => tokens.decode(garbage, []))).toMatchObject(refusal);
    },
  );

  test("is refused if it is an arbitrary text", () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.base64String({ maxLength: 200 })), (garbage) => {
        expect(thrownBy(() => tokens.decode(garbage, [])).reason).toBe("PAGE_TOKEN_INVALID");
      }),
    );
  });
});
