import type { Org } from "../../../gen/iam/v1alpha/org_pb.ts";
import type { Author } from "../../changes/author.ts";
import { createIdSource } from "../../changes/id-source.ts";
import { lockCustomersById } from "../../changes/lock-customers.ts";
import { firstRevision } from "../../changes/revision.ts";
import type { TimedRevision } from "../../changes/entries.ts";
import { beginLog, beginWrite, writeInOrg } from "../../changes/write-in-org.ts";
import { customerPath } from "../customers/message.ts";
import { customerDefinition } from "../customers/definition.ts";
import { type CustomerRow, lockCustomer } from "../customers/store.ts";
import { deleted, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import type { AtItem } from "../../standard-methods/batch/batch-item.ts";
import { limitExceeded } from "../../standard-methods/definition/limits.ts";
import type { NamedFields } from "../../standard-methods/named-fields.ts";
import { required } from "../../errors/required.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
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
  if (orgs.length > 1) await lockForOrgs(db, orgs, author, creation, atItem);
  const rows: OrgRow[] = [];
  for (const [index, org] of orgs.entries()) {
    rows.push(await atItem(index, () => createOrg(db, org, author, creation)));
  }
  return rows;
}

/**
 * Locks all customers in which several orgs are created, before any of their names is taken: a transaction that waits for one of the
 * names may hold one of these locks. Before them the org `system`, if that has the log of customers.
 */
async function lockForOrgs(
  db: WriteTransaction,
  orgs: readonly Org[],
  author: Author,
  { installation: { customerLogs, systemOrgId } }: OrgCreation,
  atItem: AtItem,
): Promise<void> {
  if (!customerLogs) await beginWrite(db, { org: { by: "id", value: systemOrgId } }, author);
  const ids = new Map<string, string | undefined>();
  for (const [index, { customerPath: path }] of orgs.entries()) {
    if (path === "" || ids.has(path)) continue;
    const customer = await atItem(index, () => findRow(db, customerDefinition, parseCustomerPath(path)));
    ids.set(path, customer?.id);
  }
  const found = [...ids.values()].filter((id) => id !== undefined);
  lockCustomersById(db, found);
}

async function createOrg(
  db: WriteTransaction,
  org: Org,
  author: Author,
  { installation, limit }: OrgCreation,
): Promise<OrgRow> {
  const customer =
    org.customerPath === ""
      ? await createCustomer(db, org, author, installation)
      : await lockLiveCustomer(db, org.customerPath);
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
  { customerLogs, systemOrgId }: OrgCreation["installation"],
): Promise<CustomerRow> {
  const fields = { name: org.name, displayName: org.displayName, description: "", labels: {} };
  if (customerLogs) return insertCustomer(db, fields, author);
  return writeInOrg(db, { org: { by: "id", value: systemOrgId } }, author, async (transaction) => {
    const { revision, time, newId } = transaction;
    const target = { db, org: undefined, revision, time, newId };
    const { rows } = await insertRows(target, customerDefinition, [{ fields, columns: {} }]);
    const row = required(rows[0]);
    recordChange(transaction, customerDefinition, null, row);
    return row;
  });
}

async function lockLiveCustomer(db: WriteTransaction, path: string): Promise<CustomerRow> {
  const references = parseCustomerPath(path);
  const customer = await lockCustomer(db, references[0]);
  if (customer === undefined) throw notFound("customer", formatReferences(patterns.Customer, references));
  if (customer.delete_time !== null) throw deleted("customer", customerPath(customer));
  return customer;
}

const parseCustomerPath = (path: string) => parseResourcePath(patterns.Customer, path, "org.customer_path");
