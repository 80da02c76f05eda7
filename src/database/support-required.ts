// Where members of the platform need an approval of the org: in all orgs of a customer, while one of them requires that. A row says so for each that does, and
// stays when this org is purged, and when the customer is: its logs stay, too.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "./schema.ts";

/**
 * Selects since when approvals count in the org `orgs`: since its customer requires them and, if that was later, since the org last set or unset the
 * switch itself. Null if the customer requires none. What was approved before does not count: who has ended the requirement has let it go.
 */
export const supportRequiredSince = sql<Date | null>`(
  select greatest(min(guarding_orgs.since), orgs.support_access_change_time)
  from guarding_orgs where guarding_orgs.customer_id = orgs.customer_id having count(*) > 0)`;

/** Selects whether members of the platform need an approval in a customer. Not as a join, for which all rows of a list could be sorted. */
export const isGuardedCustomer = (customerId: RawBuilder<unknown>) => sql<boolean>`((
  select true from guarding_orgs where guarding_orgs.customer_id = ${customerId} limit 1) is not null)`;

/** Reports whether members of the platform need an approval in a customer. */
export async function isGuarded(db: Kysely<Schema>, customerId: string): Promise<boolean> {
  return ask(db, isGuardedCustomer(sql`${customerId}::uuid`));
}

/** Reports whether they need one in the customer of an org. */
export async function isInGuardedCustomer(db: Kysely<Schema>, orgId: string): Promise<boolean> {
  return ask(
    db,
    sql<boolean>`exists (select from orgs join guarding_orgs on guarding_orgs.customer_id = orgs.customer_id
      where orgs.id = ${orgId}::uuid)`,
  );
}

async function ask(db: Kysely<Schema>, condition: RawBuilder<boolean>): Promise<boolean> {
  const { rows } = await sql<{ guarded: boolean }>`select ${condition} as guarded`.execute(db);
  return rows[0]?.guarded === true;
}
