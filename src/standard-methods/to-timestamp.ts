import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** Returns a time as its message; undefined for no time. */
export function toTimestamp(time: Date): Timestamp;
export function toTimestamp(time: Date | null): Timestamp | undefined;
export function toTimestamp(time: Date | null): Timestamp | undefined {
  if (time === null) return undefined;
  const ms = time.getTime();
  const seconds = Math.floor(ms / 1000);
  return { $typeName: "google.protobuf.Timestamp", seconds: BigInt(seconds), nanos: (ms - seconds * 1000) * 1_000_000 };
}
