// Where contacts are: in an org, or in a customer.
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import { placesWithOrgs } from "../customers/places-with-orgs.ts";

export const contactPlaces = placesWithOrgs("contacts", "contact", {
  org: patterns.Contact,
  customer: otherPatterns.customerContact,
});
