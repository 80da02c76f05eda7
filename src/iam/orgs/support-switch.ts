// Whether an org requires that members of the platform are approved. It holds in all orgs of its customer until no org of it requires that any more: an org
// that is purged has not let it go.
import type { Updateable } from "kysely";
import type { Orgs } from "../../database/schema.ts";
import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import { patterns } from "../../paths/patterns.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { orgDefinition } from "./definition.ts";
import type { OrgRow } from "./store.ts";

export const supportField = "org.support_access_required";

/**
 * Sets whether an org requires it, and returns what changes in its row. Without a value it stays as it is: who sends all fields that it knows does not
 * unset it unsaid.
 *
 * @throws ServiceError PERMISSION_DENIED, FIELD_INVALID
 */
type SetRequired = (
  transaction: OrgTransaction,
  row: OrgRow,
  isRequired: boolean | undefined,
) => Promise<Updateable<Orgs>>;

export function createSupportSwitch({
  installation: { systemOrgId },
  escalation,
  authorHolds,
}: Pick<ResourceDependencies, "installation" | "escalation" | "authorHolds">): SetRequired {
  return async (transaction, row, isRequired) => {
    if (isRequired === undefined || (row.support_access_required_time !== null) === isRequired) return {};
    const ofPlatform = await findRow(transaction.db, orgDefinition, [{ by: "id", value: systemOrgId }]);
    if (row.customer_id === ofPlatform?.customer_id) {
      throw invalidField(supportField, "must be false in the customer of the platform itself", "support_access");
    }
    const isOfPlatform = transaction.author.actorOrgId === systemOrgId;
    if (isOfPlatform || !(await escalation.isOwner(transaction))) {
      throw new ServiceError("PERMISSION_DENIED", ownersSwitch, { metadata: { permission: "iam.orgs.update" } });
    }
    await (isRequired ? require(transaction, row) : release(transaction, row, authorHolds));
    const { time } = transaction;
    return { support_access_required_time: isRequired ? time : null, support_access_change_time: time };
  };
}

const ownersSwitch = `${supportField} is changed by an owner of the org or of its customer, with a credential that is not limited, and by no member of the platform`;

async function require({ db, time: since }: OrgTransaction, { customer_id, id: org_id }: OrgRow): Promise<void> {
  await db.insertInto("guarding_orgs").values({ customer_id, org_id, since }).execute();
}

/** Nobody can unset the switch of an org that was purged: an owner of the customer who unsets another one lets go that, too. */
async function release(
  { db, author }: OrgTransaction,
  { customer_id: customerId, id }: OrgRow,
  authorHolds: AuthorHolds,
): Promise<void> {
  const ofCustomer = db.deleteFrom("guarding_orgs").where("customer_id", "=", customerId);
  await ofCustomer.where("org_id", "=", id).execute();
  const path = { pattern: patterns.Customer, references: [{ by: "id", value: customerId }] } as const;
  if (!(await authorHolds(db, author, "iam.customers.update", path))) return;
  const remaining = db.selectFrom("orgs").select("id").where("customer_id", "=", customerId);
  await ofCustomer.where("org_id", "not in", remaining).execute();
}
