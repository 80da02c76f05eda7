// A table with a column of each type that filters support, and its fields, as a resource would declare them.
import { sql } from "kysely";
import type { Database } from "../../src/database/database.ts";
import { deletableState, namedFilterFields } from "../../src/filters/common-fields.ts";
import { type FilterFields, enumerated, numberMap, scalar } from "../../src/filters/filter-fields.ts";
import { readFilter } from "../../src/filters/read-filter.ts";
import { toSql } from "../../src/filters/to-sql.ts";

export interface Thing {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly type: "USER" | "APPLICATION";
  readonly state: "INVITED" | "ACTIVE" | "SUSPENDED";
  readonly create_time: Date;
  readonly update_time: Date;
  readonly delete_time: Date | null;
  readonly purge_time: Date | null;
  readonly count: number;
  readonly ratio: number;
  readonly enabled: boolean;
  /** Seconds. */
  readonly patience: number | null;
  readonly amounts: Readonly<Record<string, number>>;
}

export const thingFields: FilterFields = {
  ...namedFilterFields("things"),
  delete_time: scalar("timestamp", "things.delete_time", { orderable: true, nullable: true }),
  purge_time: scalar("timestamp", "things.purge_time", { orderable: true, nullable: true }),
  type: enumerated("things.type", ["USER", "APPLICATION"]),
  state: deletableState("things", ["INVITED", "ACTIVE", "SUSPENDED"]),
  count: scalar("integer", "things.count", { orderable: true }),
  ratio: scalar("double", "things.ratio"),
  enabled: scalar("boolean", "things.enabled"),
  patience: scalar("duration", "things.patience"),
  amounts: numberMap("things.amounts"),
};

const plainThing: Omit<Thing, "id" | "name"> = {
  display_name: "",
  description: "",
  labels: {},
  type: "USER",
  state: "ACTIVE",
  create_time: new Date("2026-01-01T00:00:00Z"),
  update_time: new Date("2026-01-01T00:00:00Z"),
  delete_time: null,
  purge_time: null,
  count: 0,
  ratio: 0,
  enabled: false,
  patience: null,
  amounts: {},
};

let made = 0;

/** Returns a thing with the given fields, a new id and neutral values otherwise. */
export function thing(given: Partial<Thing> & Pick<Thing, "name">): Thing {
  const id = `01980f5e-7c1a-7b3e-9c55-${String(++made).padStart(12, "0")}`;
  return { ...plainThing, id, ...given };
}

/**
 * Replaces the table by one with these rows. The default collation of its texts is a linguistic one if the server has it, as it can
 * be in an existing database.
 */
export async function storeThings(
  database: Database,
  things: readonly Thing[],
  collation = "und-x-icu",
): Promise<void> {
  await sql`drop table if exists things`.execute(database.writes);
  const { rows: found } = await sql`select from pg_collation where collname = ${collation}`.execute(database.writes);
  const text = sql`text collate ${sql.id(found.length > 0 ? collation : "default")} not null`;
  await sql`
    create table things (
      id uuid primary key, name ${text}, display_name ${text}, description ${text},
      labels jsonb not null, type text not null, state text not null,
      create_time timestamptz(3) not null, update_time timestamptz(3) not null,
      delete_time timestamptz(3), purge_time timestamptz(3),
      count bigint not null, ratio double precision not null, enabled boolean not null, patience interval,
      amounts jsonb not null
    )`.execute(database.writes);
  await sql`
    insert into things
    select * from jsonb_populate_recordset(null::things, ${JSON.stringify(
      things.map((row) => ({ ...row, patience: row.patience === null ? null : `${row.patience} seconds` })),
    )})`.execute(database.writes);
}

/** Returns the names of the things that match a filter, in order. */
export async function findThings(database: Database, filter: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from things where ${toSql(readFilter(filter, thingFields))} order by name collate "C"`.execute(
    database.reads,
  );
  return rows.map((row) => row.name);
}
