import { sql } from "kysely";
import { customerLevel, matchesReference } from "../database/match-reference.ts";
import { type StatementTemplate, createStatementTemplate } from "../database/statement-template.ts";
import type { Later, WriteTransaction } from "../database/write-transaction.ts";
import { notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import type { Reference } from "../paths/parse-path.ts";
import { patterns } from "../paths/patterns.ts";
import { type FoundRow, type LockedOrgRow, toLocked } from "./lock-org.ts";

/**
 * Locks a customer and the head of its log together with the next statement, as `lockOrgWithNext` does with an org. What is written to it
 * does not depend on a state. Throws later ServiceError RESOURCE_NOT_FOUND.
 */
export function lockCustomerLogWithNext(db: WriteTransaction, customer: Reference): Later<LockedOrgRow> {
  const value = customer.by === "any" ? null : customer.value;
  const locking = db.readWithNext(statements[customer.by](db, [value]));
  return () => {
    const [found] = locking();
    if (found === undefined) throw notFound("customer", formatReferences(patterns.Customer, [customer]));
    return toLocked(found);
  };
}

const lockOf = (by: Reference["by"]): StatementTemplate<FoundRow> =>
  createStatementTemplate(1, (db, [value]) =>
    sql<FoundRow>`
      with locked as materialized (
        select id, name, revision, revision_time, chain_revision, chain_start, chain_hash from customers
        where ${matchesReference(customerLevel, { by }, sql`${value}`)} for no key update
      )
      select id, id as customer_id, name, 'ACTIVE' as state, null::timestamptz as delete_time, revision, chain_revision, chain_start,
        chain_hash, extract(epoch from clock_timestamp())::text as clock, extract(epoch from revision_time)::text as last_time,
        log_timeline() as timeline, false as is_watched, false as has_event_streams,
        exists (select from webhooks where org_id = locked.id and customer_id = locked.id and state = 'ACTIVE') as has_webhooks
      from locked`.compile(db),
  );

/** By how the customer is named. */
const statements = { id: lockOf("id"), name: lockOf("name"), any: lockOf("any") };
