import { type Change, type OrgTransaction } from "../../src/changes/write-in-org.ts";
import type { Database } from "../../src/database/database.ts";
import { insertMember } from "../database/sample-rows.ts";
import { numberOf } from "../../src/changes/revision.ts";

/** Adds a member and says so in the change log. */
export async function addLogged(transaction: OrgTransaction, name: string): Promise<string> {
  const row = await insertMember(transaction, name);
  transaction.record(changeOf(row.id));
  return row.id;
}

export const changeOf = (id: string): Change => ({ type: "Member", id, path: "/orgs/x", before: null, after: { id } });

/** The revision of an org. */
export async function headOf(database: Database, { id }: { id: string }): Promise<string> {
  const row = await database.reads.selectFrom("orgs").select("revision").where("id", "=", id).executeTakeFirstOrThrow();
  return row.revision;
}

/** The number of an org's revision. */
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

/** A promise, and what settles it. */
export function createGate(): { open: () => void; opened: Promise<void> } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), opened };
}
