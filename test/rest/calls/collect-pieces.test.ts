import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { collectPieces } from "../../../src/rest/calls/collect-pieces.ts";

test("pieces of all sizes are joined in their order", () => {
  const length = fc.oneof(fc.nat(3), fc.nat(2_000), fc.constantFrom(1_023, 1_024, 4_095, 4_096, 4_097));
  fc.assert(
    fc.property(fc.array(fc.tuple(length, fc.boolean()), { maxLength: 30 }), (given) => {
      const pieces = collectPieces();
      let added: Buffer[] = [];
      for (const [index, [size, isEnd]] of given.entries()) {
        const piece = Buffer.alloc(size, index);
        added.push(Buffer.from(piece));
        pieces.add(piece);
        if (!isEnd) continue;
        expect(pieces.take().equals(Buffer.concat(added))).toBe(true);
        added = [];
      }
      expect(pieces.take().equals(Buffer.concat(added))).toBe(true);
    }),
  );
});

test("a piece that comes alone is not copied", () => {
  const pieces = collectPieces();
  const piece = Buffer.from("body");
  pieces.add(piece);
  pieces.add(Buffer.alloc(0));
  expect(pieces.take()).toBe(piece);
});

test("bytes that come one by one take little more memory than their number", () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  /** What tests before have used is freed in several steps. */
  const used = (): number => {
    for (let least = Infinity; ;) {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      if (heapUsed + external >= least) return least;
      least = heapUsed + external;
    }
  };
  const before = used();
  const bodies = Array.from({ length: 200 }, () => collectPieces());
  for (let count = 0; count < 1_000; count++) for (const body of bodies) body.add(Buffer.alloc(1));
  const taken = used() - before;
  expect(bodies.map((body) => body.take().length)).toEqual(bodies.map(() => 1_000));
  // As Buffers of their own, they took 20 MB.
  expect(taken).toBeLessThan(4_000_000);
});
