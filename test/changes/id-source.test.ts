import fc from "fast-check";
import { validate, version } from "uuid";
import { expect, test } from "vitest";
import { createIdSource } from "../../src/changes/id-source.ts";
import { formatMicroseconds } from "../../src/changes/revision-time.ts";

const microseconds = fc.integer({ min: 0, max: Date.UTC(2200, 0) * 1000 });

test("ids are UUIDs of version 7 with the milliseconds of their write", () => {
  fc.assert(
    fc.property(microseconds, (time) => {
      const id = createIdSource(formatMicroseconds(time))();
      expect([validate(id), version(id)]).toEqual([true, 7]);
      expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(Math.floor(time / 1000));
    }),
  );
});

test("ids ascend within a write, and those of a write a microsecond later are greater", () => {
  fc.assert(
    fc.property(microseconds, fc.integer({ min: 1, max: 2_000 }), (time, count) => {
      const idsOf = (at: number) => {
        const newId = createIdSource(formatMicroseconds(at));
        return Array.from({ length: count }, newId);
      };
      const ids = [...idsOf(time), ...idsOf(time + 1)];
      expect(ids).toEqual(ids.toSorted());
      expect(new Set(ids).size).toBe(ids.length);
    }),
    { numRuns: 50 },
  );
});
