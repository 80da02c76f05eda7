import type { Org } from "../../../gen/iam/v1alpha/org_pb.ts";
import type { Author } from "../../changes/author.ts";
import { createIdSource } from "../../changes/id-source.ts";
import { firstRevision } from "../../changes/revision.ts";
import type { TimedRevision } from "../../changes/entries.ts";
import { beginLog } from "../../changes/write-in-org.ts";
import { customerPath } from "../customers/message.ts";
import { invoiceColumns } from "../customers/invoice-fields.ts";
import { customerDefinition } from "../customers/definition.ts";
import { type CustomerRow, type LockedCustomer, lockCustomers } from "../customers/store.ts";
import { deleted, invalidField, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { type Reference, parseResourcePath } from "../../paths/parse-path.ts";
import type { AtItem } from "../../standard-methods/batch/batch-item.ts";
import { limitExceeded } from "../../standard-methods/definition/limits.ts";
import type { NamedFields } from "../../standard-methods/named-fields.ts";
import { required } from "../../errors/required.ts";
import { insertRows } from "../../standard-methods/rows/insert-rows.ts";
import { changeOf } from "../../standard-methods/write/append-change.ts";
import { orgDefinition } from "./definition.ts";
import { type OrgPolicies, policyColumns } from "./message.ts";
import { type OrgRow, liveOrgsOf } from "./store.ts";
import { supportField } from "./support-switch.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";
import { readClock } from "../../database/clock.ts";

/**
 * Creates orgs in order: each in the customer that it names, or together with a new customer of the same name.
 *
 * @param limit of the orgs of a customer that are not deleted; undefined if there is none.
 */
export async function createOrgs(
  db: WriteTransaction,
  orgs: readonly Org[],
  author: Author,
  limit: number | undefined,
  atItem: AtItem,
): Promise<OrgRow[]> {
  const customers = await lockCustomersOf(db, orgs, atItem);
  const rows: OrgRow[] = [];
  for (const [index, org] of orgs.entries()) {
    rows.push(await atItem(index, () => createOrg(db, org, author, limit, customers)));
  }
  return rows;
}

/**
 * Locks the customers in which orgs are created, before any of their names is taken: a transaction that waits for one of the names may
 * hold one of these locks.
 *
 * @returns those that exist.
 */
async function lockCustomersOf(db: WriteTransaction, orgs: readonly Org[], atItem: AtItem): Promise<LockedCustomer[]> {
  const named = new Map<string, Reference>();
  for (const [index, { customerPath: path }] of orgs.entries()) {
    if (path === "" || named.has(path)) continue;
    named.set(path, await atItem(index, async () => parseCustomerPath(path)[0]));
  }
  return lockCustomers(db, [...named.values()]);
}

/** @param customers that are locked, with those that were created before. */
async function createOrg(
  db: WriteTransaction,
  org: Org,
  author: Author,
  limit: number | undefined,
  customers: LockedCustomer[],
): Promise<OrgRow> {
  if (org.supportAccessRequired === true) {
    const description = "must be false for a new org: an owner of the org sets it";
    throw invalidField(supportField, description, "support_access");
  }
  const isIn = org.customerPath !== "";
  const customer = isIn
    ? requireLiveCustomer(customers, org.customerPath)
    : { ...(await insertCustomer(db, fieldsOfCustomer(org), author)), has_webhooks: false };
  if (!isIn) customers.push(customer);
  if (limit !== undefined && (await liveOrgsOf(db, customer.id)).length >= limit) {
    throw limitExceeded(orgDefinition, customerPath(customer), limit);
  }
  const first = { revision: firstRevision(), time: await readClock(db) };
  const row = await insertOrg(db, customer, org, first);
  // The insertion waits for another one of the same name.
  await author.confirm(db, undefined);
  await beginLog(db, { ...first, org: row }, author, [changeOf(orgDefinition, null, row)], customer.has_webhooks);
  return row;
}

/** Inserts an org. The caller must start its change log with the given revision. */
export async function insertOrg(
  db: WriteTransaction,
  customer: Pick<CustomerRow, "id" | "name" | "delete_time">,
  fields: NamedFields & OrgPolicies & Partial<Pick<Org, "legalName" | "billingReference">>,
  { revision, time }: Omit<TimedRevision, "org">,
): Promise<OrgRow> {
  const start = { customer_id: customer.id, state: "ACTIVE", revision, revision_time: time } as const;
  const columns = { ...start, ...policyColumns(fields), ...invoiceColumns(fields) };
  const target = { db, org: undefined, revision, time, newId: createIdSource(time) };
  const { rows } = await insertRows(target, orgDefinition, [{ fields, columns }]);
  return { ...required(rows[0]), customer_name: customer.name, customer_delete_time: customer.delete_time };
}

/** Inserts a customer with a log of its own, which begins with that. */
export async function insertCustomer(db: WriteTransaction, fields: NamedFields, author: Author): Promise<CustomerRow> {
  const first = { revision: firstRevision(), time: await readClock(db) };
  const { revision, time } = first;
  const target = { db, org: undefined, revision, time, newId: createIdSource(time) };
  const columns = { revision, revision_time: time };
  const { rows } = await insertRows(target, customerDefinition, [{ fields, columns }]);
  const row = required(rows[0]);
  const log = { id: row.id, customer_id: row.id };
  await beginLog(db, { ...first, org: log }, author, [changeOf(customerDefinition, null, row)]);
  return row;
}

/** A customer that is made for an org is called as that is. */
const fieldsOfCustomer = ({ name, displayName }: Org): NamedFields => ({
  name,
  displayName,
  description: "",
  labels: {},
});

/** @throws ServiceError RESOURCE_NOT_FOUND, STATE_FORBIDS when it is deleted */
function requireLiveCustomer(customers: readonly LockedCustomer[], path: string): LockedCustomer {
  const references = parseCustomerPath(path);
  const [reference] = references;
  const customer = customers.find(({ id, name, delete_time: deleteTime }) => {
    if (reference.by === "id") return id === reference.value;
    return reference.by === "name" && name === reference.value && deleteTime === null;
  });
  if (customer === undefined) throw notFound("customer", formatReferences(patterns.Customer, references));
  if (customer.delete_time !== null) throw deleted("customer", customerPath(customer));
  return customer;
}

const parseCustomerPath = (path: string) => parseResourcePath(patterns.Customer, path, "org.customer_path");
