// Where webhooks are: in an org, or in a customer, whose own log and those of its orgs they deliver.
import { sql } from "kysely";
import { customerDefinition } from "../../iam/customers/definition.ts";
import { orgDefinition } from "../../iam/orgs/definition.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import { type ResourcePlace, below } from "../../standard-methods/definition/definition.ts";

export const webhookPlaces = {
  org: {
    pattern: patterns.Webhook,
    parents: below(orgDefinition, "org_id"),
    holds: sql`(webhooks.org_id = orgs.id)`,
  },
  customer: {
    pattern: otherPatterns.customerWebhook,
    parents: below(customerDefinition, "parent_customer_id"),
    holds: sql`(webhooks.customer_id = customers.id and webhooks.parent_customer_id = customers.id)`,
    responses: {
      neverRevalidated:
        "No head that is read with the key of a call tells whether a webhook of a customer has changed.",
    },
  },
} as const satisfies Record<string, ResourcePlace>;
