// The tables of what usage was summed up to, as Kysely and pg read them. All times and lengths are in microseconds, as usage is.

/**
 * Of a customer, org or project, how it is divided, and in pieces of which length: the time of which usage is summed up.
 *
 * @public
 */
export interface UsageSummaries {
  customer_id: string;
  /** Of a customer itself, the id of the customer. */
  org_id: string;
  /** The customer, org or project. */
  scope_id: string;
  /** The dimensions, in order: `org project`. */
  divided_by: string;
  /** How long each piece is. */
  piece: string;
  id: string;
  /** Each piece from here on is summed up, until `ends`. */
  begins: string;
  ends: string;
  /** The orgs that count, in order: all that were created before the end. */
  orgs: string[];
}

/**
 * How amounts of a group changed in one piece of time; what did not change has no row.
 *
 * @public
 */
export interface UsageSums {
  customer_id: string;
  org_id: string;
  summary_id: string;
  /** When the piece begins; null in the row that has the amount at the end of the summary as its `change`. */
  begins: string | null;
  of_org_id: string | null;
  project_id: string | null;
  service_id: string | null;
  type_id: string | null;
  kind: string;
  /** The sum of the changes. */
  change: string;
  /** The sum of the changes, each times the microseconds from the start of the piece to it. */
  moment: string;
  /** The greatest sum of all changes since the start of the piece. */
  highest: string;
}

/** @public */
export interface UsageTables {
  usage_summaries: UsageSummaries;
  usage_sums: UsageSums;
}
