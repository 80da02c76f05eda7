import type { Kysely } from "kysely";
import type pg from "pg";
import type { Schema } from "../../src/database/schema.ts";
import { fillTables, withoutLimits } from "../support/maintain.ts";

/** A constraint or an index, with the statements that drop and restore it. */
interface Dropped {
  readonly drop: string;
  readonly restore: string;
}

/**
 * Fills tables while they have no indexes and constraints, and restores these, which then check all rows. For many rows, this is
 * several times faster than to check and to index them one by one.
 */
export async function fillWithoutIndexes(
  databaseUrl: string,
  fill: (db: Kysely<Schema>) => Promise<void>,
): Promise<void> {
  await withoutLimits(databaseUrl, async (client) => {
    // In the order in which they can be dropped: a foreign key needs a unique index.
    const dropped = [
      ...(await readConstraints(client, ["f"])),
      ...(await readConstraints(client, ["p", "u"])),
      ...(await readIndexes(client)),
    ];
    for (const { drop } of dropped) await client.query(drop);
    await fillTables(databaseUrl, fill);
    for (const { restore } of dropped.toReversed()) await client.query(restore);
  });
}

/** Returns the constraints of these types, except for those that partitions inherit, and for that which the triggers of the directory name. */
async function readConstraints(client: pg.Client, types: readonly string[]): Promise<readonly Dropped[]> {
  const { rows } = await client.query<Dropped>(
    `select
      format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
      format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as restore
    from pg_constraint
    where connamespace = 'public'::regnamespace and conparentid = 0 and contype::text = any($1::text[])
      and conrelid <> 'directory'::regclass
    order by contype, conrelid, conname`,
    [types],
  );
  return rows;
}

/** Returns the indexes that are not part of a constraint. */
async function readIndexes(client: pg.Client): Promise<readonly Dropped[]> {
  const { rows } = await client.query<Dropped>(
    `select format('drop index %s', indexrelid::regclass) as drop, pg_get_indexdef(indexrelid) as restore
    from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = 'public'::regnamespace and not relispartition
      and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
    order by indexrelid`,
  );
  return rows;
}
