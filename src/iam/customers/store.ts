import { type InferResult, type Kysely, type SqlBool, sql } from "kysely";
import { requireNoOrgLocked } from "../../changes/write-locks.ts";
import { columnsOf, deletableColumns, namedColumns } from "../../database/columns.ts";
import { customerLevel, matchesReference } from "../../database/match-reference.ts";
import type { Schema } from "../../database/schema.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";

export type CustomerRow = InferResult<ReturnType<typeof selectCustomers>>[number];

export const customerColumns = ["legal_name", "billing_reference", ...namedColumns, ...deletableColumns] as const;

export function selectCustomers(db: Kysely<Schema>) {
  return db.selectFrom("customers").select(columnsOf("customers", customerColumns));
}

/** A customer in which orgs are created. */
export interface LockedCustomer extends CustomerRow {
  /** Whether it has a webhook that delivers, which follows the orgs, too. */
  readonly has_webhooks: boolean;
}

const hasWebhooks = sql<boolean>`exists (
  select from webhooks
  where webhooks.org_id = customers.id and webhooks.customer_id = customers.id and webhooks.state = 'ACTIVE'
)`;

/**
 * Finds the customers that references name, and locks them until the transaction ends, before it locks an org, in the order of their ids,
 * which is the order for every transaction that locks several. Those whose name another transaction takes away meanwhile are not found.
 */
export async function lockCustomers(db: WriteTransaction, references: readonly Reference[]): Promise<LockedCustomer[]> {
  if (references.length === 0) return [];
  requireNoOrgLocked(db);
  const isNamed = references.map((reference) => matchesReference(customerLevel, reference));
  return selectCustomers(db)
    .select(hasWebhooks.as("has_webhooks"))
    .where(sql<SqlBool>`(${sql.join(isNamed, sql` or `)})`)
    .orderBy("customers.id")
    .modifyEnd(sql`for no key update`)
    .execute();
}

/** Finds a customer and locks it until the transaction ends: others cannot change it or add orgs to it. */
export function lockCustomer(db: WriteTransaction, reference: Reference): Promise<CustomerRow | undefined> {
  return selectCustomers(db)
    .where(matchesReference(customerLevel, reference))
    .modifyEnd(sql`for no key update`)
    .executeTakeFirst();
}
