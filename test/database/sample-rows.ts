// Inserts rows for tests of the layers below the services, with the same functions that the services use.
import { apiKeyDefinition } from "../../src/iam/api-keys/definition.ts";
import type { ApiKeyRow } from "../../src/iam/api-keys/store.ts";
import { registry } from "../../src/resource-registry.ts";
import { serviceAuthor } from "../../src/changes/author.ts";
import { type OrgTransaction, inTransaction, writeInOrg } from "../../src/changes/write-in-org.ts";
import type { Database } from "../../src/database/database.ts";
import { createApiKey } from "../../src/identity/api-key.ts";
import { memberDefinition } from "../../src/iam/members/definition.ts";
import type { MemberRow } from "../../src/iam/members/store.ts";
import { insertCustomer, insertOrg } from "../../src/iam/orgs/create-org.ts";
import type { OrgRow } from "../../src/iam/orgs/store.ts";
import type {
  OwnColumns,
  ResourceRow,
  ResourceTable,
  TypedDefinition,
} from "../../src/standard-methods/definition/definition.ts";
import { type NamedFields, joinedOrgColumns } from "../../src/standard-methods/named-fields.ts";
import { required } from "../../src/errors/required.ts";
import { rebuildDerivedRows } from "../support/derived-rows.ts";
import { type StoredRow, insertRows } from "../../src/standard-methods/rows/insert-rows.ts";
import { firstRevision } from "../../src/changes/revision.ts";
import { readClock } from "../../src/database/clock.ts";

export const sampleAuthor = serviceAuthor("iam.v1alpha.SampleService/Sample");

export const named = (name: string) => ({ name, displayName: "", description: "", labels: {} });

/** Inserts an org, and a customer of the same name. */
export function addOrg(database: Database, name: string): Promise<OrgRow> {
  return inTransaction(database, async (db) => {
    const customer = await insertCustomer(db, named(name), sampleAuthor);
    return insertOrg(db, customer, named(name), { revision: firstRevision(), time: await readClock(db) });
  });
}

/** Runs a write in the org with this id. */
export function write<Result>(
  database: Database,
  org: { readonly id: string },
  run: (transaction: OrgTransaction) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, (db) => writeInOrg(db, { org: { by: "id", value: org.id } }, sampleAuthor, run));
}

/** Inserts the row of a resource. */
export async function insertOne<Table extends ResourceTable, Row extends ResourceRow>(
  { db, org, revision, time, newId }: OrgTransaction,
  definition: TypedDefinition<Table, Row>,
  columns: OwnColumns<Table>,
  fields?: NamedFields,
): Promise<StoredRow<Table>> {
  const row = { columns, ...(fields && { fields }) };
  const { rows } = await insertRows({ db, org, revision, time, newId }, definition, [row]);
  return required(rows[0]);
}

export async function insertMember(transaction: OrgTransaction, name: string): Promise<MemberRow> {
  const columns = { type: "USER", state: "ACTIVE" } as const;
  return {
    ...(await insertOne(transaction, memberDefinition, columns, named(name))),
    ...joinedOrgColumns(transaction),
  };
}

export function addMember(database: Database, org: { readonly id: string }, name: string): Promise<MemberRow> {
  return write(database, org, (transaction) => insertMember(transaction, name));
}

/** Inserts an API key of a member. */
export function addApiKey(
  database: Database,
  org: { readonly id: string },
  member: { readonly id: string },
  name: string,
  expireTime: Date | null = null,
): Promise<Pick<ApiKeyRow, "id"> & { readonly secret: string }> {
  const { secret, prefix, hash } = createApiKey();
  const columns = { member_id: member.id, prefix, hash, expire_time: expireTime };
  return write(database, org, async (transaction) => {
    const { id } = await insertOne(transaction, apiKeyDefinition, columns, named(name));
    return { id, secret };
  });
}

/** Rebuilds the derived rows (counts and labels) after statements that bypass the services. */
export function rebuild(database: Database): Promise<void> {
  return inTransaction(database, (db) => rebuildDerivedRows(db, registry));
}

/** Marks a row as deleted now. */
export async function markDeleted(
  database: Database,
  table: "orgs" | "members",
  row: { readonly id: string },
): Promise<void> {
  const now = new Date();
  await database.writes
    .updateTable(table)
    .set({ delete_time: now, purge_time: now })
    .where("id", "=", row.id)
    .execute();
}
