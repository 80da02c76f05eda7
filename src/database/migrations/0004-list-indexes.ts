import { type Kysely, sql } from "kysely";

/** What can be listed by its labels: the resource's type in the protos, and whether it is in an org. */
const labelled = [
  { type: "Customer", table: "customers", isInOrg: false },
  { type: "Org", table: "orgs", isInOrg: false },
  { type: "Project", table: "projects", isInOrg: true },
  { type: "Member", table: "members", isInOrg: true },
  { type: "Group", table: "groups", isInOrg: true },
];

const times = ["create_time", "update_time"];
const namesAndTimes = ["name", "display_name", ...times];

/** What can be ordered otherwise than by id: the columns below which it is listed, and the one that tells equal rows apart. */
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

/** The expressions by which lists order. PostgreSQL uses an index for them only if it has the same ones. */
const expressions: Readonly<Record<string, string>> = {
  name: `name collate "C"`,
  display_name: `display_name collate "C"`,
  expire_time: `coalesce(expire_time, 'infinity'::timestamptz)`,
};

/**
 * Lists cost what their page costs, however much there is. API keys have no indexes for orders and labels: one member
 * has few. What is deleted has indexes of its own, as it may be most of what there is, and in one place of an order.
 *
 * Labels go into a table of their own, whose keys have the rows of each label in the order of a list. Triggers keep it, so
 * that servers of the version before, which are still running, write it too.
 */
export async function createListIndexes(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // In one order, before anything else: servers that are running lock rows of several of them, too.
    `lock table customers, orgs, projects, members, api_keys, groups, group_members, subgroups in access exclusive mode`,
    ...ordered.flatMap(({ table, below, by, unique, keepsDeleted }) =>
      by.flatMap((column) => {
        const index = `${table}_by_${column}`;
        // Names tell rows apart. With the id in it, the index would have all that a look-up of an id by its name needs, and
        // be read for that from one end of the org to the other.
        const rest = column === "name" ? [] : [unique];
        const on = `on ${table} (${[...below, expressions[column] ?? column, ...rest].join(", ")})`;
        if (!keepsDeleted) return [`create index ${index} ${on}`];
        return [
          `create index ${index} ${on} where delete_time is null`,
          `create index ${index}_deleted ${on} where delete_time is not null`,
        ];
      }),
    ),
    // For look-ups by id alone. One that can be read in order would be taken for lists, with the rows of all other orgs.
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

/** Stands for the org of what is in none. */
const noOrg = "00000000-0000-0000-0000-000000000000";

/**
 * Takes the resource's type, and whether it is in an org. There is no old row on an insert and no new one on a delete: what
 * is read of it is null. Labels are deleted one by one, each by its key: a join would be planned while there are few.
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
