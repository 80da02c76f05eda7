// The change log, as Kysely and pg read it.
import type { ColumnType, JSONColumnType } from "kysely";

/** What is kept of an entry of which fields were erased, by the names of the fields, in hexadecimal digits. */
export interface ErasedFields {
  readonly keys: Readonly<Record<string, string>>;
  readonly commitments: Readonly<Record<string, string>>;
}

export interface Changes {
  customer_id: string;
  /** In the log of a customer itself, the id of the customer. */
  org_id: string;
  revision: string;
  /** The position of the change in its transaction. */
  position: number;
  /** When the change was made, under the org's lock. The changes of a transaction have the same time. */
  time: ColumnType<Date, string, never>;
  /**
   * The format of the entry. 1 left counts, labels and dependent rows to triggers and cascades; 2 was without the columns for
   * where a change came from; 3 has them; 4 has those of the chain, of the source and of the container.
   */
  format: number;
  /** The org of the member that made the change; null for the service itself. */
  actor_org_id: string | null;
  /** The member that made the change; null for the service itself. */
  actor_id: string | null;
  /** The member that impersonated the one that made the change. */
  impersonator_id: string | null;
  credential_id: string | null;
  /** On whose behalf the change was made, in the words of the caller. */
  on_behalf_of: string | null;
  /** The method, `iam.v1alpha.MembersService/CreateMember`. */
  method: string;
  request_id: string | null;
  /** The client's address: the peer of the connection, or what a trusted proxy says. */
  remote_address: string | null;
  user_agent: string | null;
  /** Why the change was made, in the words of the caller. */
  reason: string | null;
  resource_type: string;
  resource_id: string;
  /** The path at the time of the change. */
  resource_path: string;
  /** When the resource ended, if it did by itself: an entry for an expiry is written later. */
  end_time: Date | null;
  /** The row before the change; null if it was created. */
  before: JSONColumnType<object> | null;
  /** The row after the change; null if it was removed. */
  after: JSONColumnType<object> | null;
  /** The revision from which the chain of the entry holds; null for an entry of an earlier format, which is in none. */
  chain_start: string | null;
  /** The hash over the entry and the one before it (docs/decisions/0084). */
  hash: ColumnType<Buffer | null, string | null, never>;
  /** The keys of what can be erased, 16 random bytes for each field; null once something is erased. */
  salt: ColumnType<Buffer | null, string | null, string | null>;
  /** What is left once something is erased: the keys of the other fields, and the commitments to what was there. */
  erased: JSONColumnType<ErasedFields> | null;
  /**
   * The timeline of the database on which the entry was written: a promotion or a restore begins another, which may lack what came last on
   * the one before. Null for the first revision of an org, and in earlier formats.
   */
  timeline: number | null;
  /** The application that acted for the actor, and the delegation that let it. */
  delegate_id: string | null;
  delegation_id: string | null;
  /** What made the change: a call of the API, or the service itself; null in earlier formats. */
  source: "CALL" | "SERVICE" | null;
  /** What the source did it for, if it has an id. */
  source_id: string | null;
  /**
   * The resource directly below the org that the changed one is, or is in: the member of an API key. Of what is in no org, the one at the
   * top. Null in earlier formats.
   */
  container_id: string | null;
}

/** Sign-ins and refused calls. Those of a caller with the same method and reason in a minute are one row. */
export interface AccessEvents {
  customer_id: string;
  org_id: string;
  /** Made of the minute and of what the events of the row have in common, so that several servers add to one row. */
  id: string;
  /** When the first was. */
  time: ColumnType<Date, string, never>;
  last_time: ColumnType<Date, string, string>;
  count: ColumnType<string, number, number>;
  kind: "SIGN_IN_SUCCEEDED" | "SIGN_IN_FAILED" | "CALL_REFUSED";
  /** The caller, its org, and who impersonated it; null if it is not known. */
  actor_org_id: string | null;
  actor_id: string | null;
  impersonator_id: string | null;
  credential_id: string | null;
  method: string;
  /** As the call has it, if it is in the org; empty otherwise. */
  resource_path: string;
  reason: string;
  /** The permission that was missing, or why a token had ended. */
  reason_detail: string;
  remote_address: string | null;
  request_id: string | null;
}
