import type { ColumnType, Generated } from "kysely";
import type { NamedColumns } from "./shared-columns.ts";

// The tables of event streams, as Kysely and pg read them.

/** @public */
export interface EventStreams extends NamedColumns {
  customer_id: string;
  org_id: string;
  audience: string;
  /** Where events are sent; empty for a stream that is polled. */
  push_url: string;
  /** What is sent as `Authorization`, encrypted with the id of the row; null for nothing. */
  sealed_authorization: Buffer | null;
  /** The URIs of the types of events; empty for all. */
  event_types: string[];
  subject_format: "ISS_SUB" | "COMPLEX";
  state: "ACTIVE" | "PAUSED" | "DISABLED";
  disabled_reason: "GONE" | "ACCESS_LOST" | "FAILING" | null;
  /** The member for which it delivers. It may no longer exist. */
  member_org_id: string;
  member_id: string;
  /** The last entry of the log whose events were all delivered, or that has none. */
  cursor_time: ColumnType<Date, string, string>;
  cursor_revision: string;
  cursor_position: number;
  /** The ids of later events that are acknowledged already. */
  acknowledged: ColumnType<string[], never, readonly string[]>;
  /** The id of the verification event that is to be sent, and its state and time; null for none. */
  verification_id: ColumnType<string | null, never, string | null>;
  verification_state: ColumnType<string | null, never, string | null>;
  verification_time: ColumnType<Date | null, never, Date | null>;
  /** How often the next event was sent. */
  attempts: Generated<number>;
  /** When it failed first; null if it has not. */
  failing_since: ColumnType<Date | null, never, Date | null>;
  status_code: Generated<number>;
  error: Generated<string>;
  next_attempt_time: ColumnType<Date, string | undefined, Date | string>;
  /** A time up to which the log is known to have entries: what is later than the cursor is to be delivered. */
  noted_time: ColumnType<Date, string | undefined, string>;
  /** Which run of a server delivers, and until when, by the clock of the database. */
  lease_id: ColumnType<string | null, never, string | null>;
  lease_end: ColumnType<Date, never, Date | string>;
}

/** @public */
export interface SignalTables {
  event_streams: EventStreams;
}
