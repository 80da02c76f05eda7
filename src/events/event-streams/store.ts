import type { InferResult, Kysely } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type EventStreamRow = InferResult<ReturnType<typeof selectEventStreams>>[number];

export const eventStreamColumns = [
  "org_id",
  "audience",
  "push_url",
  "event_types",
  "subject_format",
  "state",
  "disabled_reason",
  "member_org_id",
  "member_id",
  ...namedColumns,
] as const;

/** The columns that neither reads return nor the change log keeps: the secret, and how far a stream has delivered. */
export const unreadEventStreamColumns = [
  "sealed_authorization",
  "cursor_time",
  "cursor_revision",
  "cursor_position",
  "acknowledged",
  "verification_id",
  "verification_state",
  "verification_time",
  "attempts",
  "failing_since",
  "status_code",
  "error",
  "next_attempt_time",
  "noted_time",
  "lease_id",
  "lease_end",
] as const;

/** Selects all event streams, with the columns that their paths need. */
export function selectEventStreams(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("event_streams", (join) =>
      join.onRef("event_streams.customer_id", "=", "orgs.customer_id").onRef("event_streams.org_id", "=", "orgs.id"),
    )
    .select(columnsOf("event_streams", eventStreamColumns))
    .select([...pathColumns.org]);
}
