import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { LockedOrg } from "../../changes/author.ts";
import { type ServiceError, invalidField } from "../../errors/service-error.ts";

/** The latest time that both a PostgreSQL timestamp and an RFC 3339 timestamp with a four-digit year can hold. */
const end = Date.UTC(9999, 0, 1);

/**
 * Reads an expiry time. Returns null if there is none.
 *
 * @param locked the org of the write, with the time of its lock by the database's clock, which decides on every server what has expired.
 * @throws ServiceError FIELD_INVALID when the time is not after that of the lock.
 */
export function readExpireTime(
  time: Timestamp | undefined,
  { lockTime }: Pick<LockedOrg, "lockTime">,
  field: string,
): Date | null {
  if (time === undefined) return null;
  const date = timestampDate(time);
  if (!(date > lockTime) || date.getTime() >= end) {
    throw invalidExpiry(field);
  }
  return date;
}

/** Reports whether something that expires at one time ends before something that expires at the other. Null is never. */
export function endsBefore(time: Date | null, other: Date | null): boolean {
  return time !== null && (other === null || time < other);
}

export function invalidExpiry(field: string): ServiceError {
  return invalidField(field, "must be in the future and before the year 9999", "expire_time");
}
