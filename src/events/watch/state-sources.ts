// What the state of an org is made of: the statements that read a page of one type each, in the order of its key.
import { type Compilable, type RawBuilder, type SqlBool, sql } from "kysely";
import type { KnownStatement } from "../../database/connection-pool.ts";
import type { Database } from "../../database/database.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns, singletonPath } from "../../paths/patterns.ts";
import { type ResourceDefinition, isInOrg } from "../../standard-methods/definition/definition.ts";
import { idOf } from "../../standard-methods/rows/row-key.ts";
import type { LoggedResource } from "../changes/logged-place.ts";

/** A resource, as an entry that has created it would show it. */
export type StateResource = LoggedResource & { readonly after: object };

/** A row of a page. Its key is in columns of their own. */
export type Found = Readonly<Record<string, unknown>>;

export interface StateSource {
  readonly type: string;
  /** How many ids its key has, besides that of the org. */
  readonly keys: number;
  /** Whether it is in no org, and so in the log of the org `system`. */
  readonly isOfNoOrg: boolean;
  /** Returns the statement that reads a page. Its text is always the same. @param after the key after which it begins. */
  readonly page: (database: Database, orgId: string, after: readonly string[]) => KnownStatement;
  /** Returns the resource of a row; undefined for one that is there, but not shown: its time is over. */
  readonly toResource: (orgId: string, row: Found) => StateResource | undefined;
}

/** How many resources a page has. Each stream keeps one for as long as its reader likes. */
export const pageSize = 100;

/** Returns the column of a page that has a part of the key. */
export const keyColumn = (index: number): string => `state_key_${index}`;

/** Returns the source of the resources of a definition: the keys in the order of their index, then each row by its key. */
export function sourceOf(definition: ResourceDefinition): StateSource {
  const { type, storage, pathOf } = definition;
  const { table, selectWithHidden: select = storage.select } = storage;
  const columns = storage.key.filter((column) => column !== "org_id");
  const orgColumn = isInOrg(definition) ? "org_id" : type === "Org" ? "id" : undefined;
  return {
    type,
    keys: columns.length,
    isOfNoOrg: orgColumn === undefined,

    page({ reads }, orgId, after) {
      const refs = columns.map((column) => sql.ref(`${table}.${column}`));
      const isOfOrg =
        orgColumn === undefined ? [] : [sql<SqlBool>`${sql.ref(`${table}.${orgColumn}`)} = ${orgId}::uuid`];
      const isAfter = sql<SqlBool>`(${sql.join(refs)}) > (${sql.join(after.map((id) => sql`${id}::uuid`))})`;
      const keys = sql`
        select ${sql.join(refs.map((ref, index) => sql`${ref} as ${sql.id(keyColumn(index))}`))} from ${sql.table(table)}
        where ${sql.join([...isOfOrg, isAfter], sql` and `)} order by ${sql.join(refs)} limit ${sql.lit(pageSize)}`;
      const found = refs.map((_, index) => sql.ref(`keys.${keyColumn(index)}`));
      const isIt = [...isOfOrg, ...refs.map((ref, index) => sql<SqlBool>`${ref} = ${found[index]}`)];
      const row: Compilable = select(reads).where(sql<SqlBool>`(${sql.join(isIt, sql` and `)})`);
      return compiled(
        { reads },
        sql`
          select keys.*, found.* from (${keys}) as keys
          left join lateral (${row} limit 1) as found on true
          order by ${sql.join(found)}`,
      );
    },

    toResource(orgId, row) {
      if (row[storage.id] === null) return undefined;
      const [id, path] = [idOf(definition, row), pathOf(row as never)];
      return { org_id: orgId, resource_type: type, resource_id: id, resource_path: path, before: null, after: row };
    },
  };
}

interface QuotaRow {
  readonly state_key_0: string;
  readonly limits: object;
  readonly org_name: string;
  readonly org_delete_time: Date | null;
  readonly project_name: string | null;
  readonly project_delete_time: Date | null;
}

/** The quotas of an org and of its projects that have limits. */
export const quotaSource: StateSource = {
  type: "Quota",
  keys: 1,
  isOfNoOrg: false,

  page: ({ reads }, orgId, [after = ""]) =>
    compiled(
      { reads },
      sql`
        select limited.*, orgs.name as org_name, orgs.delete_time as org_delete_time,
          projects.name as project_name, projects.delete_time as project_delete_time
        from orgs
        cross join lateral (
          select scope_id as ${sql.id(keyColumn(0))}, jsonb_object_agg(kind, maximum::text) as limits from quotas
          where quotas.customer_id = orgs.customer_id and quotas.org_id = orgs.id and maximum is not null
            and scope_id > ${after}::uuid
          group by scope_id order by scope_id limit ${sql.lit(pageSize)}
        ) as limited
        left join projects on projects.customer_id = orgs.customer_id and projects.org_id = orgs.id
          and projects.id = limited.${sql.id(keyColumn(0))}
        where orgs.id = ${orgId}::uuid order by limited.${sql.id(keyColumn(0))}`,
    ),

  toResource(orgId, row) {
    const { state_key_0: id, limits, ...names } = row as unknown as QuotaRow;
    const org = pathName({ id: orgId, name: names.org_name, delete_time: names.org_delete_time });
    const project = { id, name: names.project_name ?? "", delete_time: names.project_delete_time };
    const parent = id === orgId ? formatPath(patterns.Org, org) : formatPath(patterns.Project, org, pathName(project));
    const path = singletonPath("Quota", parent);
    return {
      org_id: orgId,
      resource_type: "Quota",
      resource_id: id,
      resource_path: path,
      before: null,
      after: { limits },
    };
  },
};

function compiled({ reads }: Pick<Database, "reads">, query: RawBuilder<unknown>): KnownStatement {
  const { sql: text, parameters: values } = query.compile(reads);
  return { text, values, isKept: true };
}
