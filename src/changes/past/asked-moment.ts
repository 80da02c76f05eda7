// The moment in the history of an org that a request asks about.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Kysely } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { invalidField } from "../../errors/service-error.ts";
import { formatMicroseconds } from "../revision-time.ts";
import { type Moment, findRevision, findRevisionAt } from "./find-moment.ts";

/** A revision, or a time in microseconds, with the field of the request that holds it. */
export type AskedMoment =
  | { readonly by: "revision"; readonly revision: string; readonly field: string }
  | { readonly by: "time"; readonly microseconds: number; readonly field: string };

/** A field of a request. */
interface Given<Value> {
  readonly field: string;
  readonly value: Value;
}

/** The years 1 to 9999, in seconds. */
const [firstSecond, lastSecond] = [-62_135_596_800n, 253_402_300_799n];

/**
 * Returns the moment that two fields of a request name; undefined if both are unset.
 *
 * @param rule that errors name.
 * @throws ServiceError FIELD_INVALID
 */
export function readMoment(
  revision: Given<string>,
  time: Given<Timestamp | undefined>,
  rule: string,
): AskedMoment | undefined {
  if (time.value === undefined) {
    return revision.value === "" ? undefined : { by: "revision", revision: revision.value, field: revision.field };
  }
  const { field } = time;
  if (revision.value !== "") {
    const name = revision.field.slice(revision.field.lastIndexOf(".") + 1);
    throw invalidField(field, `must be unset if ${name} is set: one of the two says as of when`, rule);
  }
  return { by: "time", microseconds: readMicroseconds(field, time.value, rule), field };
}

/** Returns a time of a request in microseconds. @throws ServiceError FIELD_INVALID */
export function readMicroseconds(field: string, { seconds, nanos }: Timestamp, rule: string): number {
  if (seconds < firstSecond || seconds > lastSecond || nanos < 0 || nanos >= 1e9) {
    throw invalidField(field, "must be a time, such as 2026-03-01T12:00:00Z", rule);
  }
  return Number(seconds) * 1e6 + Math.floor(nanos / 1000);
}

/**
 * Finds the revision of an org at a moment.
 *
 * @param now in milliseconds.
 * @throws ServiceError FIELD_INVALID for a moment that is not in the history of the org, REVISION_EXPIRED, RESOURCE_NOT_FOUND.
 */
export async function findAskedMoment(
  db: Kysely<Schema>,
  orgId: string,
  asked: AskedMoment,
  now: number,
  rule: string,
): Promise<Moment> {
  if (asked.by === "revision") return findRevision(db, orgId, asked.revision, asked.field);
  const { microseconds, field } = asked;
  if (microseconds > now * 1000) throw invalidField(field, "must not be in the future", rule);
  return findRevisionAt(db, orgId, formatMicroseconds(microseconds));
}
