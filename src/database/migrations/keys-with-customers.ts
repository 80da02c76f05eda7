// Puts the customer into each key of rows of orgs, behind what finds the row, and in front of their foreign keys. A key that begins with what
// statements have always looked for serves those of the version before as the one that it replaces did, and the planner does not take it
// for a way to all rows of an org. Servers of the version before set the customer in each row that they insert, so they run beside each step,
// and start again after it.
import { type Kysely, sql } from "kysely";
import type { Index, Migration, Migrations } from "../migration/migration.ts";

interface Keyed {
  readonly table: string;
  /** The columns of its primary key from before; undefined if that stays, because the version before names its columns when it inserts. */
  readonly key?: readonly string[];
  /** Its other unique indexes, by what their names have behind that of the table: the columns from before. */
  readonly unique?: Readonly<Record<string, UniqueIndex>>;
  /** The column with the customer, if it is something else than `customer_id`. */
  readonly customer?: string;
  /** The tables that it refers to, by the columns with the ids. Rows outside of `orgs` are in the same org. */
  readonly to?: Readonly<Record<string, string>>;
}

interface UniqueIndex {
  readonly columns: string;
  readonly where?: string;
}

const inOrg = ["org_id", "id"];
const ofMember = ["org_id", "member_id", "id"];
const live = "delete_time is null";
const names = { name_key: { columns: "org_id, name" } };
const liveNames = { name_key: { columns: "org_id, name", where: live } };

const keyed: readonly Keyed[] = [
  { table: "allocations", to: { project_id: "projects" } },
  {
    table: "api_keys",
    key: ofMember,
    unique: { name_key: { columns: "org_id, member_id, name" } },
    to: { member_id: "members" },
  },
  { table: "authorization_codes", key: ["id"] },
  { table: "clients", key: inOrg, unique: names, to: { org_id: "orgs" } },
  { table: "ended_tokens", to: { org_id: "orgs" } },
  {
    table: "group_members",
    key: ["org_id", "group_id", "member_id"],
    to: { group_id: "groups", member_id: "members" },
  },
  { table: "groups", key: inOrg, unique: names, to: { org_id: "orgs" } },
  {
    table: "identities",
    key: ofMember,
    unique: {
      name_key: { columns: "org_id, member_id, name" },
      subject_key: { columns: "provider_id, subject, org_id" },
    },
    to: { member_id: "members" },
  },
  { table: "identity_providers", key: inOrg, unique: names, to: { org_id: "orgs" } },
  { table: "members", key: inOrg, unique: liveNames, to: { org_id: "orgs" } },
  {
    table: "operations",
    key: inOrg,
    unique: { open: { columns: "org_id, resource_id", where: "end_time is null and not is_concurrent" } },
    to: { org_id: "orgs", project_id: "projects" },
  },
  { table: "projects", key: inOrg, unique: liveNames, to: { org_id: "orgs" } },
  { table: "quota_requests", key: inOrg, unique: names, to: { org_id: "orgs", project_id: "projects" } },
  { table: "resource_counts", to: { org_id: "orgs" } },
  { table: "resource_labels", key: ["org_id", "resource_type", "key", "value", "parent_id", "resource_id"] },
  {
    table: "resource_references",
    key: ["org_id", "resource_id", "target_id"],
    to: { resource_id: "resources", target_id: "resources" },
  },
  {
    table: "resources",
    key: inOrg,
    unique: { name_key: { columns: "org_id, project_id, name", where: live } },
    to: { org_id: "orgs", project_id: "projects" },
  },
  {
    table: "role_bindings",
    key: inOrg,
    unique: { name_key: { columns: "org_id, scope_id, name", where: "scope_type in ('ORG', 'PROJECT')" } },
    customer: "org_customer_id",
    to: { org_id: "orgs", project_id: "projects", member_id: "members", group_id: "groups", role_id: "roles" },
  },
  { table: "roles", key: inOrg, unique: names, to: { org_id: "orgs" } },
  { table: "sessions", key: ofMember, to: { member_id: "members" } },
  { table: "sign_in_links", key: ["id"] },
  { table: "subgroups", key: ["org_id", "group_id", "subgroup_id"], to: { group_id: "groups", subgroup_id: "groups" } },
  { table: "write_requests", to: { actor_id: "members" } },
];

/** The indexes that take the places of the keys of a table, with the names of these. */
function keysOf({
  table,
  key,
  unique = {},
  customer = "customer_id",
}: Keyed): (Index & { readonly replaces: string })[] {
  const ofKey: [string, UniqueIndex][] = key === undefined ? [] : [["pkey", { columns: key.join(", ") }]];
  return [...ofKey, ...Object.entries(unique)].map(([end, { columns, where }]) => ({
    name: `${table}_customer_${end}`,
    definition: `on ${table} (${columns}, ${customer})${where === undefined ? "" : ` where ${where}`}`,
    unique: true,
    replaces: `${table}_${end}`,
  }));
}

interface ForeignKey {
  /** As PostgreSQL names it. */
  readonly name: string;
  readonly definition: string;
  /** The name of the one from before, which begins with the org. */
  readonly replaces: string;
}

function foreignKeysOf({ table, customer = "customer_id", to = {} }: Keyed): ForeignKey[] {
  return Object.entries(to).map(([column, other]) => {
    const ofOrg = column === "org_id" ? ["org_id"] : ["org_id", column];
    const columns = [customer, ...ofOrg];
    const key = other === "orgs" ? "customer_id, id" : "customer_id, org_id, id";
    return {
      name: [table, ...columns, "fkey"].join("_"),
      definition: `foreign key (${columns.join(", ")}) references ${other} (${key})`,
      replaces: [table, ...ofOrg, "fkey"].join("_"),
    };
  });
}

/** Makes an index that was built the key that it replaces, with its name. */
function replaceKey(table: string, { name, replaces }: ReturnType<typeof keysOf>[number]): string[] {
  if (replaces.endsWith("_pkey")) {
    return [
      `-- squawk-ignore ban-drop-constraint\nalter table ${table} drop constraint ${replaces}`,
      `alter table ${table} add constraint ${replaces} primary key using index ${name}`,
    ];
  }
  return [
    // Nobody waits for longer than for the lock.
    `-- squawk-ignore require-concurrent-index-deletion\ndrop index ${replaces}`,
    // It gets the name that servers know.
    `-- squawk-ignore renaming-object\nalter index ${name} rename to ${replaces}`,
  ];
}

const statements = (texts: readonly string[]): Migration => ({
  async up(db: Kysely<unknown>) {
    for (const text of texts) await sql.raw(text).execute(db);
  },
});

/** Returns a step of each table as entries; none for a table in which there is nothing to do. */
function each(step: string, statementsOf: (of: Keyed) => readonly string[]): Migrations {
  const all = keyed.map((of) => [`${step}-of-${of.table.replaceAll("_", "-")}`, statementsOf(of)] as const);
  return Object.fromEntries(
    all.filter(([, texts]) => texts.length > 0).map(([name, texts]) => [name, statements(texts)]),
  );
}

const indexes: Migrations = Object.fromEntries(
  keyed
    .map((of) => [`0066-keys-of-${of.table.replaceAll("_", "-")}`, { createIndexes: keysOf(of) }] as const)
    .filter(([, { createIndexes }]) => createIndexes.length > 0),
);

export const keysWithCustomers: Migrations = {
  ...indexes,
  // It finds the orgs of a customer, too.
  "0067-key-of-orgs": {
    createIndexes: [{ name: "orgs_customer_key", definition: "on orgs (customer_id, id)", unique: true }],
  },
  ...each("0068-customer-references", (of) =>
    foreignKeysOf(of).map(
      ({ name, definition }) => `alter table ${of.table} add constraint ${name} ${definition} not valid`,
    ),
  ),
  ...each("0069-validate-references", (of) =>
    foreignKeysOf(of).map(({ name }) => `alter table ${of.table} validate constraint ${name}`),
  ),
  ...each("0070-only-customer-references", (of) =>
    foreignKeysOf(of).map(
      ({ replaces }) => `-- squawk-ignore ban-drop-constraint\nalter table ${of.table} drop constraint ${replaces}`,
    ),
  ),
  // The operator is not deleted: the rules of members protect it.
  "0071-operator-without-reference": statements([
    "-- squawk-ignore ban-drop-constraint\nalter table installation drop constraint installation_system_org_id_operator_id_fkey",
  ]),
  "0072-without-index-of-orgs": { dropIndexes: ["orgs_customer"] },
  ...each("0073-keys-with-customer", (of) => keysOf(of).flatMap((key) => replaceKey(of.table, key))),
};
