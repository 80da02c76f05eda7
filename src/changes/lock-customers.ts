import { type RawBuilder, type SqlBool, sql } from "kysely";
import { customerLevel, matchesReference, orgLevel } from "../database/match-reference.ts";
import { type StatementTemplate, createStatementTemplate } from "../database/statement-template.ts";
import type { WriteTransaction } from "../database/write-transaction.ts";
import type { Reference } from "../paths/parse-path.ts";

/**
 * Locks the customers of orgs, together with the next statement, before these orgs are locked: see `WriteLocks`. The installation's own
 * org is locked before its customer, as by writes to customers whose changes are in its log.
 */
export function lockCustomersOf(db: WriteTransaction, orgs: readonly Reference[]): void {
  const [only] = orgs;
  if (only === undefined) return;
  const value = only.by === "any" ? null : only.value;
  const ofOne = statements[only.by];
  db.readWithNext(orgs.length === 1 ? ofOne(db, [value]) : lockThoseOf(orgs.map(toCondition)).compile(db));
}

const toCondition = (org: Reference): RawBuilder<SqlBool> => matchesReference(orgLevel, org);

const lockOf = (by: Reference["by"]): StatementTemplate<unknown> =>
  createStatementTemplate(1, (db, [value]) =>
    lockThoseOf([matchesReference(orgLevel, { by }, sql`${value}`)]).compile(db),
  );

/** Those for one org, by how it is named. */
const statements = { id: lockOf("id"), name: lockOf("name"), any: lockOf("any") };

function lockThoseOf(named: readonly RawBuilder<SqlBool>[]): RawBuilder<unknown> {
  // The customers are read when the count is known, so when the org is locked.
  return sql`
    with found as materialized (
      select id, customer_id, id = (select system_org_id from installation) as is_system from orgs
      where ${sql.join(named, sql` or `)}
    ), system as materialized (
      select id from orgs where id in (select id from found where is_system) for no key update
    )
    select id from customers
    where id in (select customer_id from found) and (select count(*) from system) >= 0
    order by id for no key update`;
}

/** Locks the customer that a path names, if there is one, together with the next statement. */
export function lockNamedCustomer(db: WriteTransaction, customer: Reference): void {
  const isNamed = matchesReference(customerLevel, customer);
  db.readWithNext(sql`select id from customers where ${isNamed} for no key update`.compile(db));
}

/** Locks a customer, together with the next statement. PostgreSQL keeps the plan of this one, and not of one with an array of ids. */
export function lockCustomerById(db: WriteTransaction, id: string): void {
  db.readWithNext(lockStatement(db, [id]));
}

/**
 * Locks several customers, together with the next statement, in the order of their ids, which is the order for every transaction that
 * takes several locks.
 */
export function lockCustomersById(db: WriteTransaction, ids: readonly string[]): void {
  if (ids.length === 0) return;
  db.readWithNext(
    sql`select id from customers where id = any(${ids}::uuid[]) order by id for no key update`.compile(db),
  );
}

const lockStatement = createStatementTemplate(1, (db, [id]) =>
  sql`select id from customers where id = ${id} for no key update`.compile(db),
);
