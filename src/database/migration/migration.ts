import type { Kysely } from "kysely";

/** A step from one schema to the next; CONTRIBUTING.md says how to write one. */
export type Migration = MigrationTerms & (InTransaction | CreatesIndexes | DropsIndexes | Fills);

/** Migrations in their order, by their names: `0041-customer-keys`. */
export type Migrations = Readonly<Record<string, Migration>>;

interface MigrationTerms {
  /**
   * The migration that a version must know to run once this one has been applied. By default, each version may run that could
   * before. A database from which a server has served must have it before the run that applies this one.
   */
  readonly requires?: string;
  /** The fills that end before this migration begins, by their names. */
  readonly needs?: readonly string[];
}

/** Statements that wait for no lock longer than a moment, and take no longer than calls can wait. All of them are applied, or none. */
interface InTransaction {
  readonly up: (db: Kysely<unknown>) => Promise<void>;
}

/** Indexes that are built while the table is read and written. */
interface CreatesIndexes {
  readonly createIndexes: readonly Index[];
}

interface DropsIndexes {
  readonly dropIndexes: readonly string[];
}

/** Values for the rows that exist, in many small transactions. The servers set them after their start. */
interface Fills {
  readonly fill: Fill;
}

export interface Index {
  readonly name: string;
  /** What follows the name in `create index`: `on members (org_id, id)`. */
  readonly definition: string;
  readonly unique?: boolean;
  /** Set for an index that an earlier migration has declared on a table in partitions: it is built on those that lack it. */
  readonly isPartitioned?: true;
}

/** Sets columns of the rows of a table, some at a time, in the order of a unique key of columns that are not null. */
export interface Fill {
  readonly table: string;
  readonly key: readonly string[];
  /** What is set, in SQL: `customer_id = (select customer_id from orgs where id = members.org_id)`. */
  readonly set: string;
  /** The condition, in SQL, of the rows that lack it: `customer_id is null`. Others are not written. */
  readonly where: string;
}
