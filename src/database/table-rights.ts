import { type Kysely, sql } from "kysely";
import type { Schema } from "./schema.ts";

interface Role {
  readonly role: string;
  readonly schema: string;
  /** The tables that the role may not read and write. */
  readonly tables: readonly string[];
}

/**
 * Checks that the role of a server may read and write all tables. That of a partition is asked of the table which it is a part of.
 *
 * @param served the role of the server.
 * @param owner the role that owns the tables.
 * @throws Error with the statements that let it.
 */
export async function requireTableRights(db: Kysely<Schema>, served: string, owner: string): Promise<void> {
  const may = (right: string) => sql`has_table_privilege(${served}::name, oid, ${right})`;
  const { rows } = await sql<Role>`
    select quote_ident(${served}) as role, quote_ident(current_schema()) as schema, array(
      select relname::text from pg_class
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
        and not (${may("select")} and ${may("insert")} and ${may("update")} and ${may("delete")})
      order by relname
    ) as tables`.execute(db);
  const [found] = rows;
  if (found === undefined || found.tables.length === 0) return;
  const { role, schema, tables } = found;
  const rights = "grant select, insert, update, delete on";
  throw new Error(
    `the role ${role} of DATABASE_URL may not read and write ${describe(tables)}; as ${owner}, run: ${rights} all tables in schema ${schema} to ${role}; alter default privileges in schema ${schema} ${rights} tables to ${role};`,
  );
}

const shown = 5;

function describe(tables: readonly string[]): string {
  const named = tables.slice(0, shown).join(", ");
  return tables.length > shown ? `${named} and ${tables.length - shown} other tables` : `the tables ${named}`;
}
