// Gives each table with rows of orgs the customer of these, so that it can lead their keys. Each table goes through the same steps, each in
// a transaction of its own, because each locks the table for a moment. Servers of earlier versions insert rows without it; a trigger sets
// it for them, which goes when none of them may run any longer.
import { type Kysely, sql } from "kysely";
import type { Fill, Migration, Migrations } from "../migration/migration.ts";

/** A table whose rows belong to a customer. */
interface CustomerTable {
  readonly table: string;
  /** Its primary key before this, in whose order rows are filled. */
  readonly key: readonly string[];
  /** The column, if `customer_id` is something else. */
  readonly column?: string;
  /** The function of the trigger, if the customer is not simply that of `org_id`. */
  readonly setBy?: string;
  /** Returns the customer of a row, in SQL. */
  readonly customerOf?: (row: string) => string;
  /** Whether a row may be left of an org that is gone: no foreign key keeps it. */
  readonly isLoose?: true;
}

const nil = "'00000000-0000-0000-0000-000000000000'::uuid";

const ofOrg = (id: string): string => `(select orgs.customer_id from orgs where orgs.id = ${id})`;

const inOrg = ["org_id", "id"];
const ofMember = ["org_id", "member_id", "id"];

export const customerTables: readonly CustomerTable[] = [
  { table: "allocations", key: ["org_id", "resource_id", "kind"] },
  { table: "api_keys", key: ofMember },
  { table: "authorization_codes", key: ["id"], isLoose: true },
  { table: "changes", key: ["org_id", "revision", "position", "time"], isLoose: true },
  { table: "clients", key: inOrg },
  { table: "ended_tokens", key: inOrg },
  { table: "group_members", key: ["org_id", "group_id", "member_id"] },
  { table: "groups", key: inOrg },
  { table: "identities", key: ofMember },
  { table: "identity_providers", key: inOrg },
  { table: "members", key: inOrg },
  { table: "operations", key: inOrg },
  { table: "projects", key: inOrg },
  { table: "quota_requests", key: inOrg },
  {
    table: "quotas",
    key: ["org_id", "scope_id", "kind"],
    setBy: "set_customer_of_quota",
    customerOf: (row) => `case when ${row}.org_id = ${nil} then ${row}.scope_id else ${ofOrg(`${row}.org_id`)} end`,
    isLoose: true,
  },
  { table: "resource_counts", key: ["org_id", "parent_id", "resource_type"] },
  {
    table: "resource_labels",
    key: ["org_id", "resource_type", "key", "value", "parent_id", "resource_id"],
    setBy: "set_customer_of_label",
    // Those of customers and orgs are in no org.
    customerOf: (row) =>
      `case when ${row}.org_id <> ${nil} then ${ofOrg(`${row}.org_id`)} ` +
      `when ${row}.resource_type = 'Customer' then ${row}.resource_id else ${ofOrg(`${row}.resource_id`)} end`,
    isLoose: true,
  },
  { table: "resource_references", key: ["org_id", "resource_id", "target_id"] },
  { table: "resources", key: inOrg },
  // Its `customer_id` is the customer on which a role is granted.
  { table: "role_bindings", key: inOrg, column: "org_customer_id", setBy: "set_customer_of_org" },
  { table: "roles", key: inOrg },
  { table: "sessions", key: ofMember },
  { table: "sign_in_links", key: ["id"], isLoose: true },
  { table: "subgroups", key: ["org_id", "group_id", "subgroup_id"] },
  { table: "sweeps", key: ["org_id", "scope_id"], isLoose: true },
  { table: "write_requests", key: ["org_id", "actor_id", "request_id"] },
];

const columnOf = ({ column = "customer_id" }: CustomerTable): string => column;

/** Returns the customer of a row, in SQL. */
function customerOf({ customerOf: of = (row) => ofOrg(`${row}.org_id`) }: CustomerTable, row: string): string {
  return of(row);
}

const statements = (...texts: readonly string[]): Migration => ({
  async up(db: Kysely<unknown>) {
    for (const text of texts) await sql.raw(text).execute(db);
  },
});

/** Adds the column, and lets rows of servers that do not set it have it. */
function addColumn(of: CustomerTable): Migration {
  const { table, setBy = "set_customer" } = of;
  const column = columnOf(of);
  return statements(
    `alter table ${table} add column ${column} uuid`,
    `create or replace function ${setBy}() returns trigger language plpgsql as $$
begin
  new.${column} := ${customerOf(of, "new")};
  return new;
end
$$`,
    // Not before an update: such a trigger locks each row once more.
    `create trigger ${table}_customer before insert on ${table}
      for each row when (new.${column} is null) execute function ${setBy}()`,
  );
}

function fill(of: CustomerTable): Fill {
  const { table, key } = of;
  const column = columnOf(of);
  return { table, key, set: `${column} = ${customerOf(of, table)}`, where: `${column} is null` };
}

const constraintOf = ({ table }: CustomerTable): string => `${table}_customer_check`;

/** Removes rows that nobody can find, because their org is gone. */
function removeLost(of: CustomerTable): string {
  return `delete from ${of.table} where ${columnOf(of)} is null and (${customerOf(of, of.table)}) is null`;
}

/**
 * Removes them from a table that grows, in a transaction of its own: each try at the lock of the next step would search the table again. No
 * such row is added meanwhile, because a write to the log has the lock of its org. Does nothing where that step has been applied.
 */
const removeLostChanges: Migration = {
  async up(db: Kysely<unknown>) {
    const { rows } = await sql`
      select from pg_attribute where attrelid = 'changes'::regclass and attname = 'customer_id' and attnotnull`.execute(
      db,
    );
    const changes = customerTables.find(({ table }) => table === "changes");
    if (rows.length === 0 && changes !== undefined) await sql.raw(removeLost(changes)).execute(db);
  },
};

/** Lets the database check new rows. Rows that nobody can find are removed before. */
function addCheck(of: CustomerTable): Migration {
  const { table, isLoose } = of;
  const column = columnOf(of);
  return statements(
    ...(isLoose === undefined || table === "changes" ? [] : [removeLost(of)]),
    `alter table ${table} add constraint ${constraintOf(of)} check (${column} is not null) not valid`,
  );
}

function validateCheck(of: CustomerTable): Migration {
  return statements(`alter table ${of.table} validate constraint ${constraintOf(of)}`);
}

/** The check has been validated, so no row is read, and needed no longer. */
function setNotNull(of: CustomerTable): Migration {
  const { table } = of;
  return statements(
    `-- squawk-ignore adding-not-nullable-field\nalter table ${table} alter column ${columnOf(of)} set not null`,
    `-- squawk-ignore ban-drop-constraint\nalter table ${table} drop constraint ${constraintOf(of)}`,
  );
}

/** Returns a step of each table as entries. */
function each(step: string, migrationOf: (of: CustomerTable, name: string) => Migration): Migrations {
  const named = customerTables.map((of) => [of, `of-${of.table.replaceAll("_", "-")}`] as const);
  return Object.fromEntries(named.map(([of, name]) => [`${step}-${name}`, migrationOf(of, name)]));
}

/**
 * The steps, for all tables. Servers of earlier versions run beside each, and can start again: they neither set nor read the column. The
 * fills end before the first server of this version starts: its statements say which customer they are about.
 */
export const customerColumns: Migrations = {
  ...each("0043-customer", addColumn),
  ...each("0044-fill-customer", (of) => ({ fill: fill(of) })),
  "0044-remove-lost-changes": { ...removeLostChanges, needs: ["0044-fill-customer-of-changes"] },
  ...each("0045-check-customer", (of, name) => ({ ...addCheck(of), needs: [`0044-fill-customer-${name}`] })),
  ...each("0046-validate-customer", validateCheck),
  ...each("0047-require-customer", setNotNull),
};
