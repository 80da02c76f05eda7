// The places of what is in an org or in a customer, which then stands in the place of an org, as in its log.
import { sql } from "kysely";
import type { PathPattern } from "../../paths/patterns.ts";
import { type ResourcePlace, below } from "../../standard-methods/definition/definition.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { customerDefinition } from "./definition.ts";

/**
 * @param table with the columns `org_id`, which has the id of the customer for what is in one, `customer_id` and `parent_customer_id`.
 * @param label of one of them.
 */
export function placesWithOrgs<const InOrg extends PathPattern, const InCustomer extends PathPattern>(
  table: "contacts" | "webhooks",
  label: string,
  patterns: { readonly org: InOrg; readonly customer: InCustomer },
) {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return {
    org: {
      pattern: patterns.org,
      parents: below(orgDefinition, "org_id"),
      holds: sql`(${column("org_id")} = orgs.id)`,
    },
    customer: {
      pattern: patterns.customer,
      parents: below(customerDefinition, "parent_customer_id"),
      holds: sql`(${column("customer_id")} = customers.id and ${column("parent_customer_id")} = customers.id)`,
      responses: {
        neverRevalidated: `No head that is read with the key of a call tells whether a ${label} of a customer has changed.`,
      },
    },
  } as const satisfies Record<string, ResourcePlace>;
}
