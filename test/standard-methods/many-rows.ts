// Inserts so many rows that the planner needs indexes: of each resource a large parent and many small ones. The rows of a
// resource without a statement here follow from its definition and its table.
import { type Kysely, sql } from "kysely";
import { registry } from "../../src/resource-registry.ts";
import { customerColumnOf } from "../../src/database/org-key.ts";
import type { Schema } from "../../src/database/schema.ts";
import type { ResourceType } from "../../src/paths/patterns.ts";
import type { ResourceDefinition, ResourceTable } from "../../src/standard-methods/definition/definition.ts";
import { ownColumnsOf } from "../support/written-resources.ts";

export const large = 20_000;
/** The rows of the large parent and of all the small ones together. */
const total = large + large / 4;
const orgs = 3000;
/** As many as the default limit allows in one parent. */
const nestedInOne = 1000;

/** Returns the start of an id, which tells the resource apart. */
const kindOf = (type: ResourceType): string =>
  (1 + registry.definitions.findIndex((definition) => definition.type === type)).toString(16).padStart(2, "0");

const idOf = (kind: string, number: string): string =>
  `('000${kind}000-' || lpad(to_hex((${number}) / 65536), 4, '0') || '-7000-8000-' || lpad(to_hex(${number}), 12, '0'))::uuid`;

/** Returns an id with the resource and its number; the ids of one resource ascend. */
const id = (type: ResourceType, number: string): string => idOf(kindOf(type), number);

/** Returns the id of a row of a resource, by its number. */
export const idOfNumber = (type: ResourceType, number: number): string =>
  `000${kindOf(type)}000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;

/** Returns the id of the parent with the most rows below it: the first of each resource. */
export const largest = (type: ResourceType): string => idOfNumber(type, 1);

/** An org of which nearly all members are deleted, including the oldest ones. */
export const orgOfDeleted = idOfNumber("Org", 2);

/** Returns a time, in another order than the ids. */
const timeOf = (n: string): string =>
  `timestamptz '2026-01-01' + (${n}) * 7919::bigint % 1000003 * interval '1 second'`;

/** Half of all have `half: yes`, nearly all have `most: yes`, and 3 of the large parent `few: yes`; none has `few: no`. */
const named = (n: string): Readonly<Record<string, string>> => ({
  name: `'n' || md5((${n})::text)`,
  display_name: `'d' || (${n}) % 50`,
  description: "''",
  labels: `jsonb_build_object('half', case (${n}) % 2 when 0 then 'yes' else 'no' end, 'most', case (${n}) % 100 when 0 then 'no' else 'yes' end)
    || case when ${n} in (500, 9000, 19000) then '{"few": "yes"}' else '{}' end::jsonb`,
  changed_revision: "gen_random_uuid()",
  create_time: timeOf(n),
  update_time: timeOf(`${large} - ${n}`),
});

const columns = Object.keys(named("n")).join(", ");
const values = Object.values(named("n")).join(", ");

/** All rows up to `large` are in the first org, and a few are in each of the others. */
const orgOf = (n: string): string => id("Org", `case when ${n} <= ${large} then 1 else 2 + ${n} % ${orgs - 1} end`);

/** The customer of an org has its number. */
const customerOf = (n: string): string =>
  id("Customer", `case when ${n} <= ${large} then 1 else 2 + ${n} % ${orgs - 1} end`);

/** The number of a row, at most `total`, in the same org as row `n`. */
const inSameOrg = `case when n <= ${large} then n else ${large + 1} + (n - ${large + 1}) % ${orgs - 1} end`;

/** The statements that cannot be derived from a definition. */
const statements: Readonly<Partial<Record<ResourceTable, readonly string[]>>> = {
  customers: [
    `insert into customers (id, ${columns}) select ${id("Customer", "n")}, ${values} from generate_series(1, ${large}) n`,
  ],
  orgs: [
    `insert into orgs (id, customer_id, state, revision, revision_time, ${columns})
      select ${id("Org", "n")}, ${id("Customer", "n")}, 'ACTIVE', gen_random_uuid(), now(), ${values} from generate_series(1, ${large}) n`,
  ],
  members: [
    `insert into members (id, customer_id, org_id, type, state, ${columns})
      select ${id("Member", "n")}, ${customerOf("n")}, ${orgOf("n")}, 'USER', 'ACTIVE', ${values} from generate_series(1, ${total}) n`,
    // Deleted members are kept for a while.
    `update members set delete_time = now(), purge_time = now() where create_time > '2026-01-09' and name <> 'n' || md5('1')`,
    `insert into members (id, customer_id, org_id, type, state, ${columns}, delete_time, purge_time)
      select ${idOf("00", "n")}, ${id("Customer", "2")}, ${id("Org", "2")}, 'USER', 'ACTIVE', ${values}, now(), now()
      from generate_series(1, ${large}) n`,
  ],
  group_members: [
    `insert into group_members (customer_id, org_id, group_id, member_id, changed_revision, create_time, expire_time)
      select ${id("Customer", "1")}, ${id("Org", "1")}, ${id("Group", `1 + greatest(n - ${large}, 0)`)}, ${id("Member", `1 + n % ${large}`)}, gen_random_uuid(),
        ${timeOf("n")},
        case n % 3 when 0 then timestamptz '2099-01-01' + n * interval '1 minute' end
      from generate_series(1, ${total}) n`,
  ],
  access_requests: [
    // Of customers whose orgs have no rows, so that they hide nothing.
    `insert into guarding_orgs (customer_id, org_id, since) select ${id("Customer", "n")}, ${id("Org", "n")}, now() from generate_series(${orgs + 1}, ${large}) n`,
    `insert into access_requests (id, customer_id, org_id, member_id, predefined_role, reason, expire_time, lapse_time, state,
        decision_message, changed_revision, create_time, update_time)
      select ${id("AccessRequest", "n")}, ${customerOf("n")}, ${orgOf("n")}, ${id("Member", inSameOrg)}, 'viewer', 'to look',
        now() + interval '1 day', now() + interval '1 day', 'PENDING', '', gen_random_uuid(), ${timeOf("n")}, ${timeOf(`${large} - n`)}
      from generate_series(1, ${total}) n`,
  ],
  subgroups: [
    `insert into subgroups (customer_id, org_id, group_id, subgroup_id, description, changed_revision)
      select ${id("Customer", "1")}, ${id("Org", "1")}, ${id("Group", `1 + greatest(n - ${nestedInOne}, 0)`)},
        ${id("Group", `${large} - n % 10000`)}, '', gen_random_uuid()
      from generate_series(1, 10000) n`,
  ],
  role_bindings: [
    `insert into role_bindings (id, org_customer_id, org_id, scope_type, member_id, role_id, condition, ${columns})
      select ${id("RoleBinding", "n")}, ${customerOf("n")}, ${orgOf("n")}, 'ORG', ${id("Member", inSameOrg)}, ${id("Role", inSameOrg)}, '', ${values}
      from generate_series(1, ${2 * large}) n`,
  ],
};

/** Rows of other places of a resource, after those of its first one. */
const others: Readonly<Partial<Record<ResourceTable, readonly string[]>>> = {
  webhooks: [
    `insert into webhooks (id, customer_id, org_id, parent_customer_id, start_time, url, filter, format, state, member_org_id, member_id,
        sealed_secret, cursor_time, cursor_revision, cursor_position, ${columns})
      select ${idOf("00", "n")}, ${id("Customer", "n")}, ${id("Customer", "n")}, ${id("Customer", "n")}, now(), '', '', 'STANDARD', 'ACTIVE',
        gen_random_uuid(), gen_random_uuid(), '', now(), gen_random_uuid(), 0, ${values}
      from generate_series(1, ${large / 4}) n`,
  ],
};

/** A column in the catalog of PostgreSQL. */
interface CatalogColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
}

/** The empty value of each type. */
const empty: Readonly<Record<string, string>> = {
  text: "''",
  ARRAY: "'{}'",
  jsonb: "'{}'",
  bytea: "''",
  boolean: "false",
};

async function readColumns(db: Kysely<Schema>, table: string): Promise<CatalogColumn[]> {
  const { rows } = await sql<CatalogColumn>`
    select column_name as name, data_type as type, is_nullable = 'YES' as nullable from information_schema.columns
    where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'
    order by ordinal_position`.execute(db);
  return rows;
}

/** Returns how many rows below an org's children are in the first parent. */
const inFirst = ({ limit }: ResourceDefinition): number => Math.min(limit?.default ?? large, large);

/**
 * Returns a statement that inserts the rows of a resource. The parents of rows directly below an org are those of `orgOf`.
 * Rows at a greater depth are in the first org: as many in the first parent as the limit allows, and one in each of the next
 * parents.
 *
 * @throws Error that names a column without a value.
 */
function insertOf(definition: ResourceDefinition, table: readonly CatalogColumn[]): string {
  const { type, storage, places, lifecycle } = definition;
  const parents = places[0].parents;
  const isDeep = parents.length > 1;
  const count = isDeep ? large + inFirst(definition) - 1 : total;
  const own = ownColumnsOf(type);

  const known: Record<string, string> = { ...named("n"), [storage.id]: id(type, "n") };
  if (lifecycle?.states[0] !== undefined) known["state"] = `'${lifecycle.states[0]}'`;
  for (const { column, to } of storage.references) {
    if (!table.some(({ name, nullable }) => name === column && nullable)) {
      known[column] = id(to, isDeep ? `1 + n % ${large}` : "n");
    }
  }
  let number = "n";
  let child = definition;
  for (const parent of parents.slice(1).toReversed()) {
    number = `1 + greatest(${number} - ${inFirst(child)}, 0)`;
    known[parent.column] = id(parent.type, number);
    child = registry.definitionOf(parent.type);
  }
  known["org_id"] = isDeep ? id("Org", "1") : orgOf("n");
  if (customerColumnOf(storage.table) !== undefined) {
    known["customer_id"] = isDeep ? id("Customer", "1") : customerOf("n");
  }

  const valueOf = ({ name, type: columnType, nullable }: CatalogColumn): string => {
    const value = own[name] ?? known[name] ?? (nullable ? "null" : empty[columnType]);
    if (value === undefined) throw new Error(`the entry of ${type} says nothing of the column ${name}`);
    return value;
  };
  const names = table.map(({ name }) => name).join(", ");
  return `insert into ${storage.table} (${names}) select ${table.map(valueOf).join(", ")} from generate_series(1, ${count}) n`;
}

/** Sorts resources after those that they refer to. */
const inOrderOfInsertion = [
  ...registry.definitions.filter((definition) => !registry.inOrgs.includes(definition)),
  ...registry.inOrgs.toReversed(),
];

/** Inserts the rows of these resources, which must have what they refer to among them, without their counts and labels. */
export async function insertManyRows(db: Kysely<Schema>, definitions: readonly ResourceDefinition[]): Promise<void> {
  for (const definition of inOrderOfInsertion.filter((each) => definitions.includes(each))) {
    const { table } = definition.storage;
    const own = statements[table] ?? [insertOf(definition, await readColumns(db, table))];
    for (const statement of [...own, ...(others[table] ?? [])]) await sql.raw(statement).execute(db);
  }
}
