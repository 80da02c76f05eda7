import type { Generated, JSONColumnType } from "kysely";

// Columns that the tables of resources have in common, as Kysely and pg read them.

export interface VersionColumns {
  /** The revision of the org's change log that last changed the row. It is the resource's etag. */
  changed_revision: string;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

export interface NamedColumns extends VersionColumns {
  id: string;
  name: string;
  display_name: string;
  description: string;
  labels: JSONColumnType<Record<string, string>>;
}

/** The columns of resources that stay readable for a while after they are deleted. */
export interface DeletableColumns {
  delete_time: Date | null;
  purge_time: Date | null;
}

/** Amounts of Quantities, or grades of Qualities, by kind. */
export type Amounts = JSONColumnType<Record<string, number>>;
