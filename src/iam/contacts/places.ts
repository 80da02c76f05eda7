// Where contacts are: in an org, or in a customer, which then stands in the place of an org, as in its log.
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import { type ResourcePlace, below } from "../../standard-methods/definition/definition.ts";
import { sql } from "kysely";
import { customerDefinition } from "../customers/definition.ts";
import { orgDefinition } from "../orgs/definition.ts";

export const contactPlaces = {
  org: {
    pattern: patterns.Contact,
    parents: below(orgDefinition, "org_id"),
    holds: sql`(contacts.org_id = orgs.id)`,
  },
  customer: {
    pattern: otherPatterns.customerContact,
    parents: below(customerDefinition, "parent_customer_id"),
    holds: sql`(contacts.customer_id = customers.id and contacts.parent_customer_id = customers.id)`,
    responses: {
      neverRevalidated:
        "No head that is read with the key of a call tells whether a contact of a customer has changed.",
    },
  },
} as const satisfies Record<string, ResourcePlace>;
