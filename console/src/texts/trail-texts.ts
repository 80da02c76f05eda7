// What the way to a screen calls the lists on it.
import { operationTexts } from "./resource-texts.ts";
import { texts } from "./texts.ts";

export const trailTexts = { label: "Where this is" };

/** What a list is called, by the last part of its path. */
export const listTitles: Readonly<Record<string, string>> = {
  members: texts.nav.members,
  groups: texts.nav.groups,
  projects: texts.nav.projects,
  resources: texts.nav.resources,
  roles: texts.nav.roles,
  webhooks: texts.nav.webhooks,
  eventStreams: texts.nav.eventStreams,
  clients: texts.nav.clients,
  identityProviders: texts.nav.identityProviders,
  scimSources: texts.nav.scimSources,
  roleBindings: texts.grants.title,
  accessRequests: texts.requests.access,
  quotaRequests: texts.counted["quotaRequests"] ?? "",
  operations: operationTexts.title,
};
