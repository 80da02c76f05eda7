import { randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";

/** The tables of the resources in an org. */
const tables = ["projects", "members", "api_keys", "groups", "group_members", "subgroups", "roles", "role_bindings"];

/**
 * Adds a random token to each revision: a revision becomes 8 bytes of number and 8 bytes of token, in a UUID. The tokens of
 * existing revisions are derived from a secret of this migration, so that two copies of a database that are migrated
 * separately have different ones.
 *
 * A server of an earlier version can neither read nor write revisions after this migration.
 */
export async function addRevisionTokens(db: Kysely<unknown>): Promise<void> {
  const secret = randomBytes(16).toString("hex");
  const withToken = (number: string, orgId: string): string =>
    `(lpad(to_hex(${number}), 16, '0') || left(md5('${secret}' || ${orgId} || ${number}), 16))::uuid`;
  const change = (table: string, column: string, orgId: string): string =>
    `alter table ${table} alter column ${column} type uuid using ${withToken(column, orgId)}`;
  const { rows } = await sql<{ system_org_id: string }>`select system_org_id from installation`.execute(db);
  const statements = [
    `lock table customers, orgs, projects, members, api_keys, groups, group_members, subgroups, roles, role_bindings, changes
      in access exclusive mode`,
    change("orgs", "revision", "id"),
    change("changes", "revision", "org_id"),
    change("orgs", "changed_revision", "id"),
    ...tables.map((table) => change(table, "changed_revision", "org_id")),
    // The changes of customers are in the log of the installation's own org. Without one there are no customers.
    change("customers", "changed_revision", `'${rows[0]?.system_org_id ?? ""}'`),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
