// Whether something is in use: by the references that keep what they refer to.
import { type SqlBool, type Transaction, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { isInGuardedCustomer } from "../../database/support-required.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { patterns } from "../../paths/patterns.ts";
import {
  type ResourceDefinition,
  type ResourceRow,
  type ResourceTable,
  type TypedDefinition,
  columnsReferringTo,
} from "../definition/definition.ts";
import type { Referrer, ResourceRegistry } from "../definition/registry.ts";
import { isOneOf } from "../rows/row-key.ts";

/**
 * Checks that no row of another resource keeps any of the rows, before they are removed.
 *
 * @throws ServiceError RESOURCE_IN_USE that names one.
 */
export async function requireUnused<Table extends ResourceTable, Row extends ResourceRow>(
  db: Transaction<Schema>,
  registry: ResourceRegistry,
  definition: TypedDefinition<Table, Row>,
  rows: readonly Row[],
): Promise<void> {
  for (const row of rows) {
    for (const user of registry.usersOf(definition.type)) {
      const found = await findUser(db, definition, row, user);
      if (found === undefined) continue;
      throw inUse(definition, row, user.definition, (await isHidden(db, definition, found)) ? undefined : found);
    }
  }
  for (const { definition: user, refers } of registry.hiddenUsersOf(definition.type)) {
    const statement = user.storage.select(db).where(sql<SqlBool>`true`);
    const { rows: all } = await db.executeQuery(statement.compile());
    for (const row of rows) {
      const found = all.find((each) => refers(each as never, row as never));
      if (found !== undefined) throw inUse(definition, row, user, found as object);
    }
  }
}

/** Returns a row that refers to the given one. None is created until the transaction ends. */
async function findUser(
  db: Transaction<Schema>,
  definition: ResourceDefinition,
  row: object,
  { definition: user, column }: Referrer,
): Promise<object | undefined> {
  const { storage } = definition;
  if (isBelowOrg(user) && !isBelowOrg(definition)) {
    // The writes that could refer to the row hold the locks of their own orgs, so only a lock of the row makes them wait.
    await sql`select from ${sql.table(storage.table)} where ${isOneOf(definition, [row])} for update`.execute(db);
  }
  const { table, key, select } = user.storage;
  const values = storage.key.map((each) => (row as Readonly<Record<string, unknown>>)[each]);
  const refers = columnsReferringTo(definition, column).map((own, index) => sql`${sql.ref(own)} = ${values[index]}`);
  const keyColumns = sql.join(key.map((each) => sql.ref(`${table}.${each}`)));
  const first = sql`select ${sql.join(key.map((each) => sql.ref(each)))} from ${sql.table(table)} where ${sql.join(refers, sql` and `)} limit 1`;
  return (await select(db)
    .where(sql<SqlBool>`(${keyColumns}) = (${first})`)
    .executeTakeFirst()) as object | undefined;
}

/** Whether something in an org is not for who deletes what is in none: its customer shows it to members of the platform only with an approval. */
async function isHidden(db: Transaction<Schema>, definition: ResourceDefinition, found: object): Promise<boolean> {
  const [place] = definition.places;
  if (place.pattern[0] === patterns.Org[0] || !("org_id" in found)) return false;
  return isInGuardedCustomer(db, String(found.org_id));
}

/** Whether the rows of a resource are in orgs of customers. The others are in the org `system`. */
function isBelowOrg({ places: [{ parents }] }: ResourceDefinition): boolean {
  return parents[0]?.type === "Org";
}

/** Returns the error for the deletion of something that is still used. */
function inUse<Table extends ResourceTable, Row extends ResourceRow>(
  { label, pathOf }: TypedDefinition<Table, Row>,
  row: Row,
  user: ResourceDefinition,
  found: object | undefined,
): ServiceError {
  const path = pathOf(row);
  if (found === undefined) {
    const message = `the ${label.one} ${path} is used in an org whose customer does not show to the platform what there is`;
    return new ServiceError("RESOURCE_IN_USE", message, { metadata: { resource: path } });
  }
  const usedBy = user.pathOf(found as never);
  const message = `the ${label.one} ${path} is used by ${usedBy}; delete that first`;
  return new ServiceError("RESOURCE_IN_USE", message, { metadata: { resource: path, used_by: usedBy } });
}
