import type { Change } from "../../src/changes/change.ts";
import type { OrgTransaction } from "../../src/changes/write-in-org.ts";
import type { Database } from "../../src/database/database.ts";
import { insertMember } from "../database/sample-rows.ts";
import { numberOf } from "../../src/changes/revision.ts";

/** Inserts a member and records the change. */
export async function addLogged(transaction: OrgTransaction, name: string): Promise<string> {
  const row = await insertMember(transaction, name);
  transaction.record(changeOf(row.id));
  return row.id;
}

export const changeOf = (id: string): Change => ({
  type: "Member",
  id,
  path: "/orgs/x",
  containerId: id,
  before: null,
  after: { id },
});

/** Returns the revision of an org. */
export async function headOf(database: Database, { id }: { id: string }): Promise<string> {
  const row = await database.reads.selectFrom("orgs").select("revision").where("id", "=", id).executeTakeFirstOrThrow();
  return row.revision;
}

/** Returns the number in the revision of an org. */
export async function revisionOf(database: Database, org: { id: string }): Promise<number> {
  return Number(numberOf(await headOf(database, org)));
}

export const changesOf = (database: Database, { id }: { id: string }) =>
  database.reads
    .selectFrom("changes")
    .selectAll()
    .where("org_id", "=", id)
    .orderBy("revision")
    .orderBy("position")
    .execute();

/** Returns a promise, and a function that resolves it. */
export function createGate(): { open: () => void; opened: Promise<void> } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), opened };
}
