import fc from "fast-check";
import { expect, test } from "vitest";
import { readLines } from "../../../src/rest/streams/read-lines.ts";

async function linesOf(chunks: Iterable<Buffer>, maxBytes = 1000): Promise<[number, string][]> {
  async function* source(): AsyncGenerator<Buffer> {
    yield* chunks;
  }
  const lines: [number, string][] = [];
  for await (const { number, bytes } of readLines(source(), maxBytes)) lines.push([number, String(bytes)]);
  return lines;
}

/** Splits the text into chunks at the given byte offsets, also inside characters. */
function cut(text: string, places: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

test("splits lines in the same way wherever chunks end", async () => {
  const text = fc.array(fc.constantFrom("\n", "\r\n", "\r", " ", "a", "ж", "🦊")).map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(100)), async (whole, places) => {
      const expected = whole
        .split("\n")
        .map((line, index): [number, string] => [index + 1, line.replace(/\r$/, "")])
        .filter(([, line]) => !/^[ \t]*$/.test(line));
      expect(await linesOf(cut(whole, places))).toEqual(expected);
    }),
  );
});

test.each([
  ["in one chunk", ["abc\nabcd\n"]],
  ["in several chunks", ["abc\n", "ab", "c", "d"]],
  ["before its end", ["abc\nabcd"]],
  ["though it is blank", ["   \n    \n"]],
  ["though it is blank, with CRLF", ["  \r\n   \r\n"]],
])("rejects a line that is too long, %s", async (_case, chunks) => {
  await expect(
    linesOf(
      chunks.map((chunk) => Buffer.from(chunk)),
      3,
    ),
  ).rejects.toThrow("line 2: a line must be at most 3 bytes long");
});

test("stops reading a line that is too long", async () => {
  let read = 0;
  function* endless(): Generator<Buffer> {
    for (;;) {
      read += 1;
      yield Buffer.alloc(100, "x");
    }
  }
  await expect(linesOf(endless(), 1000)).rejects.toThrow("at most 1000 bytes");
  expect(read).toBe(11);
});
