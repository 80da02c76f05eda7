import { type Kysely, sql } from "kysely";

/** The resources that can be listed by labels: the type in the protos, and whether they are in an org. */
const labelled = [
  { type: "Customer", table: "customers", isInOrg: false },
  { type: "Org", table: "orgs", isInOrg: false },
  { type: "Project", table: "projects", isInOrg: true },
  { type: "Member", table: "members", isInOrg: true },
  { type: "Group", table: "groups", isInOrg: true },
];

const times = ["create_time", "update_time"];
const namesAndTimes = ["name", "display_name", ...times];

/**
 * The lists that can be ordered by columns other than the id: the columns of their parents, and the column that makes the order
 * unique.
 */
const ordered = [
  { table: "customers", below: [], by: namesAndTimes, unique: "id", keepsDeleted: true },
  { table: "orgs", below: [], by: namesAndTimes, unique: "id", keepsDeleted: true },
  { table: "projects", below: ["org_id"], by: namesAndTimes, unique: "id", keepsDeleted: true },
  { table: "members", below: ["org_id"], by: namesAndTimes, unique: "id", keepsDeleted: true },
  { table: "groups", below: ["org_id"], by: namesAndTimes, unique: "id", keepsDeleted: false },
  {
    table: "group_members",
    below: ["org_id", "group_id"],
    by: [...times, "expire_time"],
    unique: "member_id",
    keepsDeleted: false,
  },
  { table: "subgroups", below: ["org_id", "group_id"], by: times, unique: "subgroup_id", keepsDeleted: false },
];

/** The expressions that lists order by. PostgreSQL uses an index only for the same expression. */
const expressions: Readonly<Record<string, string>> = {
  name: `name collate "C"`,
  display_name: `display_name collate "C"`,
  expire_time: `coalesce(expire_time, 'infinity'::timestamptz)`,
};

/**
 * Adds indexes with which the cost of a list is proportional to its page. API keys get no indexes for orders and labels,
 * because a member has few. Deleted rows have their own indexes, as they may be most of all rows and adjacent in an order.
 *
 * Labels get their own table, whose key has the resources with each label in list order. Triggers maintain it, so that running
 * servers of the previous version do too.
 */
export async function createListIndexes(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // Locks the tables first and in a fixed order, because running servers lock rows of several of them.
    `lock table customers, orgs, projects, members, api_keys, groups, group_members, subgroups in access exclusive mode`,
    ...ordered.flatMap(({ table, below, by, unique, keepsDeleted }) =>
      by.flatMap((column) => {
        const index = `${table}_by_${column}`;
        // Names are unique. An index with the id as well would be chosen for the lookup of an id by its name, and be scanned
        // over the whole org.
        const rest = column === "name" ? [] : [unique];
        const on = `on ${table} (${[...below, expressions[column] ?? column, ...rest].join(", ")})`;
        if (!keepsDeleted) return [`create index ${index} ${on}`];
        return [
          `create index ${index} ${on} where delete_time is null`,
          `create index ${index}_deleted ${on} where delete_time is not null`,
        ];
      }),
    ),
    // For lookups by id. A btree index would also be chosen for lists, which would then read the rows of all other orgs.
    ...["projects", "members", "api_keys", "groups"].flatMap((table) => [
      `drop index ${table}_id`,
      `create index ${table}_id on ${table} using hash (id)`,
    ]),
    ...["projects", "members"].map(
      (table) => `create index ${table}_live on ${table} (org_id, id) where delete_time is null`,
    ),

    `create table resource_labels (
      org_id uuid not null,
      resource_type text not null,
      key text not null,
      value text not null,
      resource_id uuid not null,
      primary key (org_id, resource_type, key, value, resource_id)
    )`,
    `create index resource_labels_key on resource_labels (org_id, resource_type, key, resource_id)`,
    keepLabels,
    ...labelled.flatMap(({ type, table, isInOrg }) => {
      const orgId = isInOrg ? "org_id" : `'${noOrg}'`;
      const trigger = (event: string, condition: string) =>
        `create trigger ${table}_labels_${event} after ${event} on ${table}
          for each row when (${condition}) execute function keep_labels('${type}', '${isInOrg}')`;
      return [
        `insert into resource_labels (org_id, resource_type, key, value, resource_id)
          select ${orgId}, '${type}', label.key, label.value, id from ${table}, jsonb_each_text(labels) as label`,
        trigger("insert", "new.labels <> '{}'"),
        trigger("update", "new.labels <> old.labels"),
        trigger("delete", "old.labels <> '{}'"),
      ];
    }),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** The org of resources that are in no org. */
const noOrg = "00000000-0000-0000-0000-000000000000";

/**
 * The trigger's arguments are the resource's type and whether it is in an org. On insert there is no old row, and on delete no
 * new one; their columns read as null. Labels are deleted one by one by key, because a join would be planned while the table is
 * small.
 */
const keepLabels = `
  create function keep_labels() returns trigger language plpgsql as $$
  declare
    org uuid := '${noOrg}';
    label record;
  begin
    if tg_argv[1] = 'true' then org := coalesce(new.org_id, old.org_id); end if;
    for label in select * from jsonb_each_text(old.labels) where value is distinct from new.labels ->> key loop
      delete from resource_labels
        where org_id = org and resource_type = tg_argv[0]
          and key = label.key and value = label.value and resource_id = old.id;
    end loop;
    insert into resource_labels (org_id, resource_type, key, value, resource_id)
      select org, tg_argv[0], added.key, added.value, new.id
      from jsonb_each_text(new.labels) as added where added.value is distinct from old.labels ->> added.key;
    return null;
  end $$`;
