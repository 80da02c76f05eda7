import type { Org } from "../../../gen/iam/v1alpha/org_pb.ts";
import type { Author } from "../../changes/author.ts";
import { createIdSource } from "../../changes/id-source.ts";
import { firstRevision } from "../../changes/revision.ts";
import type { WriteLocks } from "../../changes/write-locks.ts";
import type { TimedRevision } from "../../changes/entries.ts";
import { beginLog, beginWrite, writeInOrg } from "../../changes/write-in-org.ts";
import { customerPath } from "../customers/message.ts";
import { customerDefinition } from "../customers/definition.ts";
import { type CustomerRow, lockCustomers } from "../customers/store.ts";
import { deleted, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { type Reference, parseResourcePath } from "../../paths/parse-path.ts";
import type { AtItem } from "../../standard-methods/batch/batch-item.ts";
import { limitExceeded } from "../../standard-methods/definition/limits.ts";
import type { NamedFields } from "../../standard-methods/named-fields.ts";
import { required } from "../../errors/required.ts";
import { insertRows } from "../../standard-methods/rows/insert-rows.ts";
import { changeOf, recordChange } from "../../standard-methods/write/append-change.ts";
import { orgDefinition } from "./definition.ts";
import { policyColumns } from "./message.ts";
import { type OrgRow, liveOrgsOf } from "./store.ts";
import type { Installation } from "../../identity/installation.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";
import { readClock } from "../../database/clock.ts";

export interface OrgCreation {
  readonly installation: Pick<Installation, "systemOrgId" | "customerLogs">;
  readonly limit: number | undefined;
}

/** Creates orgs in order: each in the customer that it names, or together with a new customer of the same name. */
export async function createOrgs(
  db: WriteTransaction,
  orgs: readonly Org[],
  author: Author,
  creation: OrgCreation,
  atItem: AtItem,
): Promise<OrgRow[]> {
  const customers = await lockCustomersOf(db, orgs, author, creation, atItem);
  const rows: OrgRow[] = [];
  for (const [index, org] of orgs.entries()) {
    rows.push(await atItem(index, () => createOrg(db, org, author, creation, customers)));
  }
  return rows;
}

/**
 * Locks the customers in which orgs are created, before any of their names is taken: a transaction that waits for one of the names may
 * hold one of these locks. Before them the org `system`, if that has the log of customers, and one may be created beside others.
 *
 * @returns those that exist.
 */
async function lockCustomersOf(
  db: WriteTransaction,
  orgs: readonly Org[],
  author: Author,
  { installation }: OrgCreation,
  atItem: AtItem,
): Promise<CustomerRow[]> {
  const named = new Map<string, Reference>();
  for (const [index, { customerPath: path }] of orgs.entries()) {
    if (path === "" || named.has(path)) continue;
    named.set(path, await atItem(index, async () => parseCustomerPath(path)[0]));
  }
  if (!installation.customerLogs && orgs.length > 1) await beginWrite(db, logOfSystem(installation), author);
  return lockCustomers(db, [...named.values()]);
}

/** The locks of a creation where the log of the org `system` has what becomes of customers. */
function logOfSystem({ systemOrgId }: OrgCreation["installation"]): WriteLocks {
  return { org: { by: "id", value: systemOrgId }, creates: "orgs" };
}

/** @param customers that are locked, with those that were created before. */
async function createOrg(
  db: WriteTransaction,
  org: Org,
  author: Author,
  { installation, limit }: OrgCreation,
  customers: CustomerRow[],
): Promise<OrgRow> {
  const isIn = org.customerPath !== "";
  const customer = isIn
    ? requireLiveCustomer(customers, org.customerPath)
    : await createCustomer(db, org, author, installation);
  if (!isIn) customers.push(customer);
  if (limit !== undefined && (await liveOrgsOf(db, customer.id)).length >= limit) {
    throw limitExceeded(orgDefinition, customerPath(customer), limit);
  }
  const first = { revision: firstRevision(), time: await readClock(db) };
  const row = await insertOrg(db, customer, org, first);
  // The insertion waits for another one of the same name.
  await author.confirm(db, undefined);
  await beginLog(db, { ...first, org: row }, author, [changeOf(orgDefinition, null, row)]);
  return row;
}

/** Inserts an org. The caller must start its change log with the given revision. */
export async function insertOrg(
  db: WriteTransaction,
  customer: Pick<CustomerRow, "id" | "name" | "delete_time">,
  fields: NamedFields & Pick<Org, "apiKeyPolicy">,
  { revision, time }: Omit<TimedRevision, "org">,
): Promise<OrgRow> {
  const start = { customer_id: customer.id, state: "ACTIVE", revision, revision_time: time } as const;
  const columns = { ...start, ...policyColumns(fields) };
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

function createCustomer(
  db: WriteTransaction,
  org: Org,
  author: Author,
  installation: OrgCreation["installation"],
): Promise<CustomerRow> {
  const fields = { name: org.name, displayName: org.displayName, description: "", labels: {} };
  if (installation.customerLogs) return insertCustomer(db, fields, author);
  return writeInOrg(db, logOfSystem(installation), author, async (transaction) => {
    const { revision, time, newId } = transaction;
    const target = { db, org: undefined, revision, time, newId };
    const { rows } = await insertRows(target, customerDefinition, [{ fields, columns: {} }]);
    const row = required(rows[0]);
    recordChange(transaction, customerDefinition, null, row);
    return row;
  });
}

/** @throws ServiceError RESOURCE_NOT_FOUND, STATE_FORBIDS when it is deleted */
function requireLiveCustomer(customers: readonly CustomerRow[], path: string): CustomerRow {
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
