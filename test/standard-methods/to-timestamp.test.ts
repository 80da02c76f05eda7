import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toTimestamp } from "../../src/standard-methods/to-timestamp.ts";

test("a time becomes the message that protobuf-es makes of it, also before 1970", () => {
  const [min, max] = [new Date("0001-01-01T00:00:00Z"), new Date("9999-12-31T23:59:59.999Z")];
  const times = fc.sample(fc.date({ min, max, noInvalidDate: true }), 1000);
  expect(times.map((time) => toTimestamp(time))).toEqual(times.map((time) => timestampFromDate(time)));
});

test("no time becomes no message", () => {
  expect(toTimestamp(null)).toBeUndefined();
});
