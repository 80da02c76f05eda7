import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { RoleBinding } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import type { LockedOrg } from "../../changes/author.ts";
import { invalidField } from "../../errors/service-error.ts";
import { readExpireTime } from "../../standard-methods/write/expire-time.ts";

const startField = "role_binding.start_time";
const expireField = "role_binding.expire_time";

/** When a binding applies. Null stands for no start or no end. */
export interface Period {
  readonly start_time: Date | null;
  readonly expire_time: Date | null;
}

/**
 * Reads when a binding applies.
 *
 * @param org whose lock's time decides.
 * @param current the period of an existing binding. An unchanged expire time is not checked again.
 * @throws ServiceError FIELD_INVALID when the period ends before it starts, or has ended already.
 */
export function readPeriod({ startTime, expireTime }: RoleBinding, org: LockedOrg, current?: Period): Period {
  const start = readStartTime(startTime);
  const isKept = expireTime !== undefined && timestampDate(expireTime).getTime() === current?.expire_time?.getTime();
  const expire = isKept ? current.expire_time : readExpireTime(expireTime, org, expireField);
  if (start !== null && expire !== null && start >= expire) {
    throw invalidField(startField, "must be before expire_time", "period");
  }
  return { start_time: start, expire_time: expire };
}

const [earliest, latest] = [Date.UTC(1970, 0, 1), Date.UTC(9999, 0, 1)];

function readStartTime(time: Timestamp | undefined): Date | null {
  if (time === undefined) return null;
  const date = timestampDate(time);
  if (date.getTime() >= earliest && date.getTime() < latest) return date;
  throw invalidField(startField, "must be in the years 1970 to 9998", "start_time");
}
