import { sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { isLogOfCustomer } from "../../database/org-key.ts";

/** What a contact is of, as people are told. */
export interface ContactParent {
  readonly kind: "org" | "customer";
  readonly name: string;
  readonly displayName: string;
}

/** Reads the org or the customer of a write. */
export async function readParent({ db, org }: Pick<OrgTransaction, "db" | "org">): Promise<ContactParent> {
  const { rows } = await sql<{ display_name: string }>`
    select display_name from ${isLogOfCustomer(org) ? sql`customers where id = ${org.id}` : sql`orgs where customer_id = ${org.customer_id} and id = ${org.id}`}`.execute(
    db,
  );
  return { kind: isLogOfCustomer(org) ? "customer" : "org", name: org.name, displayName: rows[0]?.display_name ?? "" };
}
