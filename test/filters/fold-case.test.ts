import { expect, test } from "vitest";
import { foldCase, foldLetter } from "../../src/filters/fold-case.ts";

const everyLetter = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code >= 0xe000)
  .map((code) => String.fromCodePoint(code));

test("the letters to replace are all that are folded to those of the text", () => {
  const folded = everyLetter.filter((letter) => letter > "\u007f" && foldLetter(letter) !== letter);
  expect(folded.length).toBeGreaterThan(1400);
  expect(folded.filter((letter) => foldLetter(foldLetter(letter)) !== foldLetter(letter))).toEqual([]);
  const replaced = new Map<string, string>();
  for (const letter of new Set(folded.map(foldLetter))) {
    const { text, from, to } = foldCase(letter);
    const targets = Array.from(to);
    expect([text, targets.every((target) => target === letter)]).toEqual([letter, true]);
    for (const form of Array.from(from)) replaced.set(form, letter);
  }
  expect(folded.filter((letter) => replaced.get(letter) !== foldLetter(letter))).toEqual([]);
  expect(replaced.size).toBe(folded.length);
});

test("letters of ASCII are folded with each other only, and nothing is replaced for them", () => {
  expect(foldCase("KiS 100%_")).toEqual({ text: "kis 100%_", from: "", to: "" });
  expect(["\u212a", "\u0131", "\u0130", "\u017f"].map(foldLetter)).toEqual(["\u212a", "\u0131", "\u0130", "\u017f"]);
});

test("a text has each of its letters once among those to replace", () => {
  expect(foldCase("Äpfel ÄÖä Σας")).toEqual({ text: "äpfel äöä σασ", from: "ÄÖΣςΑ", to: "äöσσα" });
});
