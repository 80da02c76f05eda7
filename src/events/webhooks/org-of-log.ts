// Which log a call about a webhook of a customer names.
import { type Kysely, sql } from "kysely";
import { matchesReference, orgLevel } from "../../database/match-reference.ts";
import type { Schema } from "../../database/schema.ts";
import { invalidField } from "../../errors/service-error.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";

const field = "org_path";

/** @throws ServiceError FIELD_INVALID */
export function requireNoOrgPath(orgPath: string): void {
  if (orgPath !== "") throw invalidField(field, "must be empty for a webhook of an org, which has one log", "org_path");
}

/**
 * Returns the id of an org of a customer. One of another customer is refused as if there were none.
 *
 * @param lock so that the org is not purged meanwhile.
 * @throws ServiceError FIELD_INVALID, PATH_INVALID
 */
export async function requireLogOfCustomer(
  db: Kysely<Schema>,
  customerId: string,
  orgPath: string,
  lock?: "for key share",
): Promise<string> {
  const [org] = parseResourcePath(patterns.Org, orgPath, field);
  const select = db
    .selectFrom("orgs")
    .select("orgs.id")
    .where("orgs.customer_id", "=", customerId)
    .where(matchesReference(orgLevel, org));
  const found = await (lock === undefined ? select : select.modifyEnd(sql.raw(lock))).executeTakeFirst();
  if (found === undefined) throw invalidField(field, "must be an org of the customer", "org_path");
  return found.id;
}
