import { type Kysely, sql } from "kysely";
import type { Migration, Migrations } from "../migration/migration.ts";

/** What rows of a table are found by on the whole platform, alone. */
interface Found {
  readonly what: string;
  readonly table: string;
  /** Its primary key, in whose order it is filled. */
  readonly key: readonly string[];
  readonly type: string;
  /** The column that finds them. */
  readonly name: string;
  readonly customer: string;
  /** The column with the org; undefined for customers. */
  readonly org?: string;
}

const found: readonly Found[] = [
  {
    what: "api-keys",
    table: "api_keys",
    key: ["org_id", "member_id", "id", "customer_id"],
    type: "ApiKey",
    name: "prefix",
    customer: "customer_id",
    org: "org_id",
  },
  { what: "customers", table: "customers", key: ["id"], type: "Customer", name: "name", customer: "id" },
  // No name has the form of an id.
  { what: "org-ids", table: "orgs", key: ["id"], type: "Org", name: "id", customer: "customer_id", org: "id" },
  { what: "orgs", table: "orgs", key: ["id"], type: "Org", name: "name", customer: "customer_id", org: "id" },
];

/**
 * Creates the directory: where the customer, org or API key is that has a name, id or prefix. Triggers keep it, so that it is right whichever
 * version of a server writes the rows, and however they are removed. A name that is taken meanwhile fails by the index of the table itself, before
 * its trigger; so what the directory has under this name is of a row that is gone, and is replaced.
 */
async function createDirectory(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table directory (
      resource_type text not null,
      name text not null,
      customer_id uuid not null,
      org_id uuid,
      primary key (resource_type, name)
    )`.execute(db);
}

/** Updates of other columns do not call it: the row of an org changes with each write. */
function createTrigger({ what, table, type, name, customer, org }: Found): Migration {
  const [trigger, called] = [
    `${what.replaceAll("-", "_")}_directory`,
    `keep_${what.replaceAll("-", "_")}_in_directory`,
  ];
  const statements = [
    // A connection keeps its plan, also one that it has made while the table was small.
    `create function ${called}() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  if tg_op <> 'INSERT' and old.${name} is distinct from new.${name} then
    delete from directory where resource_type = '${type}' and directory.name = old.${name}::text;
  end if;
  if tg_op <> 'DELETE' then
    insert into directory (resource_type, name, customer_id, org_id)
    values ('${type}', new.${name}::text, new.${customer}, ${org === undefined ? "null" : `new.${org}`})
    on conflict on constraint directory_pkey do update set customer_id = excluded.customer_id, org_id = excluded.org_id
      where (directory.customer_id, directory.org_id) is distinct from (excluded.customer_id, excluded.org_id);
  end if;
  return null;
end
$$`,
    `create trigger ${trigger} after insert or delete or update of ${name} on ${table}
      for each row execute function ${called}()`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

/** An update that changes nothing calls the trigger. */
function fill({ table, key, type, name }: Found): Migration {
  const isThere = `select from directory where resource_type = '${type}' and directory.name = ${table}.${name}::text`;
  return { fill: { table, key, set: `${name} = ${name}`, where: `not exists (${isThere})` } };
}

const each = (step: string, of: (one: Found) => Migration): Migrations =>
  Object.fromEntries(found.map((one) => [`${step}-of-${one.what}`, of(one)]));

export const directoryMigrations: Migrations = {
  "0131-directory": { up: createDirectory },
  ...each("0131-directory", createTrigger),
  ...each("0132-fill-directory", fill),
};
