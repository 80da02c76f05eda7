// Rows for tests of what is below the services: made by the stores, as the services would.
import type { Author } from "../../src/changes/author.ts";
import { type OrgTransaction, inTransaction, writeInOrg } from "../../src/changes/write-in-org.ts";
import { insertCustomer } from "../../src/customers/store.ts";
import type { Database } from "../../src/database/database.ts";
import { type MemberRow, insertMember } from "../../src/members/store.ts";
import { type OrgRow, insertOrg } from "../../src/orgs/store.ts";

export const sampleAuthor: Author = { actorId: null, actorOrgId: null, method: "iam.v1alpha.SampleService/Sample" };

export const named = (name: string) => ({ name, displayName: "", description: "", labels: {} });

/** An org and a customer of the same name. */
export function addOrg(database: Database, name: string): Promise<OrgRow> {
  return inTransaction(database, async (db) => insertOrg(db, await insertCustomer(db, named(name), "1"), named(name)));
}

/** A write in an org, found by its id. */
export function write<Result>(
  database: Database,
  org: { readonly id: string },
  run: (transaction: OrgTransaction) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, (db) => writeInOrg(db, { by: "id", value: org.id }, sampleAuthor, run));
}

export function addMember(database: Database, org: { readonly id: string }, name: string): Promise<MemberRow> {
  return write(database, org, (transaction) => insertMember(transaction, { ...named(name), type: "USER" }));
}

/** Marks a row as deleted a moment ago. */
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
