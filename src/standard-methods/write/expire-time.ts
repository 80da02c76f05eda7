import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type ServiceError, invalidField } from "../../errors/service-error.ts";

/** The latest time that both a PostgreSQL timestamp and an RFC 3339 timestamp with a four-digit year can hold. */
const end = Date.UTC(9999, 0, 1);

/**
 * Reads an expiry time. Returns null if there is none.
 *
 * @throws ServiceError FIELD_INVALID when the time is not in the future.
 */
export function readExpireTime(time: Timestamp | undefined, now: Date, field: string): Date | null {
  if (time === undefined) return null;
  const date = timestampDate(time);
  if (!(date > now) || date.getTime() >= end) {
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
