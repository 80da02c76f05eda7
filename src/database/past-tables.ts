// The tables from which the past is read besides the log, as Kysely and pg read them.
import type { ColumnType, JSONColumnType } from "kysely";

/**
 * A piece of the state of an org at a revision.
 *
 * @public
 */
export interface PastStates {
  customer_id: string;
  org_id: string;
  /** As in the protos: `GroupMember`. The piece of the type `Org` is the last one: a state without it does not count. */
  resource_type: string;
  revision: string;
  /** The number of the piece, from 0. */
  piece: string;
  /** When the revision was made. */
  time: Date;
  /** Some rows of the table of the type, without their customer. */
  rows: JSONColumnType<readonly object[]>;
}

/**
 * What the predefined roles were from a time on. What they were before the first one is not known.
 *
 * @public
 */
export interface PastRoles {
  time: ColumnType<Date, never, never>;
  /** By name: `*`, or permissions and wildcards. */
  permissions: JSONColumnType<Readonly<Record<string, readonly string[] | "*">>>;
}

/** @public */
export interface PastTables {
  past_roles: PastRoles;
  past_states: PastStates;
}
