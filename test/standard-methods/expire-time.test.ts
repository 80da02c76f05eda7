import { create } from "@bufbuild/protobuf";
import { TimestampSchema, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { readExpireTime } from "../../src/standard-methods/write/expire-time.ts";
import { thrownBy } from "../paths/service-failure.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const read = (time: Parameters<typeof readExpireTime>[0]) =>
  readExpireTime(time, { lockTime: now }, "api_key.expire_time");

describe("an expire time", () => {
  test("can be unset", () => {
    expect(read(undefined)).toBeNull();
  });

  test.each(["2026-03-01T12:00:00.001Z", "2026-03-02T00:00:00.000Z", "9998-12-31T23:59:59.999Z"])(
    "can be in the future: %s",
    (text) => {
      expect(read(timestampFromDate(new Date(text)))).toEqual(new Date(text));
    },
  );

  test.each([
    ["now", timestampFromDate(now)],
    ["a moment ago", timestampFromDate(new Date(now.getTime() - 1))],
    ["the Unix epoch", create(TimestampSchema)],
    ["after the year 9999", create(TimestampSchema, { seconds: 253_402_300_800n })],
    ["too late for a Date", create(TimestampSchema, { seconds: 9_223_372_036_854_775_807n })],
    ["too early for a Date", create(TimestampSchema, { seconds: -9_223_372_036_854_775_808n })],
  ])("is refused if it is %s", (_name, time) => {
    expect(thrownBy(() => read(time))).toMatchObject({
      reason: "FIELD_INVALID",
      violations: [{ field: "api_key.expire_time", rule: "expire_time" }],
    });
  });
});
