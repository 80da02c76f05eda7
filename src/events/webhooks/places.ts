// Where webhooks are: in an org, or in a customer, whose own log and those of its orgs they deliver.
import { placesWithOrgs } from "../../iam/customers/places-with-orgs.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";

export const webhookPlaces = placesWithOrgs("webhooks", "webhook", {
  org: patterns.Webhook,
  customer: otherPatterns.customerWebhook,
});
