import type { Org } from "../../../gen/iam/v1alpha/org_pb.ts";
import type { Author } from "../../changes/author.ts";
import { createIdSource } from "../../changes/id-source.ts";
import { firstRevision } from "../../changes/revision.ts";
import type { TimedRevision } from "../../changes/entries.ts";
import { beginLog, writeInOrg } from "../../changes/write-in-org.ts";
import { customerPath } from "../customers/message.ts";
import { customerDefinition } from "../customers/definition.ts";
import { type CustomerRow, lockCustomer, lockCustomers } from "../customers/store.ts";
import { deleted, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import type { AtItem } from "../../standard-methods/batch/batch-item.ts";
import { limitExceeded } from "../../standard-methods/definition/limits.ts";
import type { NamedFields } from "../../standard-methods/named-fields.ts";
import { required } from "../../errors/required.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import { type InsertTarget, insertRows } from "../../standard-methods/rows/insert-rows.ts";
import { changeOf, recordChange } from "../../standard-methods/write/append-change.ts";
import { orgDefinition } from "./definition.ts";
import { policyColumns } from "./message.ts";
import { type OrgRow, liveOrgsOf } from "./store.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";
import { readClock } from "../../database/clock.ts";

export interface OrgCreation {
  /** The id of the org whose change log has the changes of customers. */
  readonly systemOrgId: string;
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
  if (orgs.length > 1) await lockForOrgs(db, orgs, author, creation.systemOrgId, atItem);
  const rows: OrgRow[] = [];
  for (const [index, org] of orgs.entries()) {
    rows.push(await atItem(index, () => createOrg(db, org, author, creation)));
  }
  return rows;
}

/**
 * Locks the installation's own org and then all customers in which several orgs are created, before any of their names is
 * taken: a transaction that waits for one of the names may hold one of these locks.
 */
async function lockForOrgs(
  db: WriteTransaction,
  orgs: readonly Org[],
  author: Author,
  systemOrgId: string,
  atItem: AtItem,
): Promise<void> {
  await writeInOrg(db, { org: { by: "id", value: systemOrgId } }, author, () => Promise.resolve());
  const ids = new Map<string, string | undefined>();
  for (const [index, { customerPath: path }] of orgs.entries()) {
    if (path === "" || ids.has(path)) continue;
    const customer = await atItem(index, () => findRow(db, customerDefinition, parseCustomerPath(path)));
    ids.set(path, customer?.id);
  }
  lockCustomers(db, new Set([...ids.values()].filter((id) => id !== undefined)));
}

async function createOrg(
  db: WriteTransaction,
  org: Org,
  author: Author,
  { systemOrgId, limit }: OrgCreation,
): Promise<OrgRow> {
  const customer =
    org.customerPath === ""
      ? await createCustomer(db, org, author, systemOrgId)
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

export async function insertCustomer(target: InsertTarget, fields: NamedFields): Promise<CustomerRow> {
  const { rows } = await insertRows(target, customerDefinition, [{ fields, columns: {} }]);
  return required(rows[0]);
}

function createCustomer(db: WriteTransaction, org: Org, author: Author, systemOrgId: string): Promise<CustomerRow> {
  const fields = { name: org.name, displayName: org.displayName, description: "", labels: {} };
  return writeInOrg(db, { org: { by: "id", value: systemOrgId } }, author, async (transaction) => {
    const { revision, time, newId } = transaction;
    const row = await insertCustomer({ db, org: undefined, revision, time, newId }, fields);
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
