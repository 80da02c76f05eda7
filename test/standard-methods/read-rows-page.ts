import { CompiledQuery, type Kysely, sql } from "kysely";
import type { Schema } from "../../src/database/schema.ts";
import type {
  ResourcePlace,
  ResourceRow,
  ResourceTable,
  TypedDefinition,
} from "../../src/standard-methods/definition/definition.ts";
import { pageStatementsOf } from "../../src/standard-methods/read/row-reader.ts";
import type { Selection } from "../../src/standard-methods/read/select-page.ts";

/** Reads the rows of a page with the statement, and the settings, of the service. */
export async function readRowsPage<Table extends ResourceTable, Row extends ResourceRow>(
  db: Kysely<Schema>,
  definition: TypedDefinition<Table, Row>,
  place: ResourcePlace,
  selection: Selection,
): Promise<Row[]> {
  const { text, values, settings } = pageStatementsOf(db, definition, place)(selection);
  for (const [name, value] of Object.entries(settings)) {
    await sql`set local ${sql.ref(name)} = ${sql.lit(value)}`.execute(db);
  }
  return (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows;
}
