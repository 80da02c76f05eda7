import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type ServiceError, invalidField } from "../errors/service-error.ts";

/** The latest instant that a PostgreSQL timestamp and an RFC 3339 year of four digits both hold. */
const latest = Date.UTC(9999, 11, 31);

/**
 * Reads an expiry; null stands for none.
 *
 * @throws ServiceError FIELD_INVALID when it is not in the future.
 */
export function readExpireTime(time: Timestamp | undefined, now: Date, field: string): Date | null {
  if (time === undefined) return null;
  const date = timestampDate(time);
  if (!(date > now) || date.getTime() > latest) {
    throw expiryInPast(field);
  }
  return date;
}

export function expiryInPast(field: string): ServiceError {
  return invalidField(field, "must be in the future and before the year 9999", "expire_time");
}
