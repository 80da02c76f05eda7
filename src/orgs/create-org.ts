import type { Transaction } from "kysely";
import type { Org } from "../../gen/iam/v1alpha/org_pb.ts";
import type { Author } from "../changes/author.ts";
import { appendChanges, writeInOrg } from "../changes/write-in-org.ts";
import { customerPath } from "../customers/message.ts";
import { type CustomerRow, insertCustomer, lockCustomer } from "../customers/store.ts";
import type { Schema } from "../database/schema.ts";
import { deleted, notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { parseResourcePath } from "../paths/resource-path.ts";
import { orgChange } from "./message.ts";
import { type OrgRow, firstRevision, insertOrg } from "./store.ts";

/**
 * Creates an org in the customer that it names, or together with a new customer of the same name.
 *
 * @param systemOrgId the org whose change log keeps what happens to customers.
 */
export async function createOrg(
  db: Transaction<Schema>,
  org: Org,
  author: Author,
  systemOrgId: string,
): Promise<OrgRow> {
  const customer =
    org.customerPath === ""
      ? await createCustomer(db, org, author, systemOrgId)
      : await lockLiveCustomer(db, org.customerPath);
  const row = await insertOrg(db, customer, org);
  await appendChanges(db, row.id, firstRevision, author, [orgChange(null, row)]);
  return row;
}

function createCustomer(db: Transaction<Schema>, org: Org, author: Author, systemOrgId: string): Promise<CustomerRow> {
  const fields = { name: org.name, displayName: org.displayName, description: "", labels: {} };
  return writeInOrg(db, { by: "id", value: systemOrgId }, author, async ({ record, revision }) => {
    const row = await insertCustomer(db, fields, revision);
    record({ type: "Customer", id: row.id, path: customerPath(row), before: null, after: row });
    return row;
  });
}

async function lockLiveCustomer(db: Transaction<Schema>, path: string): Promise<CustomerRow> {
  const references = parseResourcePath(patterns.Customer, path, "org.customer_path");
  const customer = await lockCustomer(db, references[0]);
  if (customer === undefined) throw notFound("customer", formatReferences(patterns.Customer, references));
  if (customer.delete_time !== null) throw deleted("customer", customerPath(customer));
  return customer;
}
