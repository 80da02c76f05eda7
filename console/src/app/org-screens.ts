// The screens of an org, as its navigation and the search for anything name them.
import { texts } from "../texts/texts.ts";

const { nav } = texts;

/** Who may do what. */
export const accessScreens = [
  { to: "/orgs/$org/access", title: nav.why },
  { to: "/orgs/$org/roleBindings", title: nav.grants },
  { to: "/orgs/$org/accessRequests", title: texts.requests.access },
  { to: "/orgs/$org/roles", title: nav.roles },
  { to: "/orgs/$org/findings", title: nav.findings },
] as const;

/** What is used. */
export const usedScreens = [
  { to: "/orgs/$org/quota", title: nav.quota },
  { to: "/orgs/$org/usage", title: nav.usage },
] as const;

/** What has happened. */
export const pastScreens = [
  { to: "/orgs/$org/changes", title: nav.changes },
  { to: "/orgs/$org/past", title: nav.past },
] as const;

/** What the org is connected to. */
export const connectionScreens = [
  { to: "/orgs/$org/webhooks", title: nav.webhooks },
  { to: "/orgs/$org/eventStreams", title: nav.eventStreams },
  { to: "/orgs/$org/clients", title: nav.clients },
  { to: "/orgs/$org/identityProviders", title: nav.identityProviders },
  { to: "/orgs/$org/scimSources", title: nav.scimSources },
] as const;

const screens = [
  { to: "/orgs/$org", title: nav.overview },
  { to: "/orgs/$org/account", title: nav.account },
  { to: "/orgs/$org/members", title: nav.members },
  { to: "/orgs/$org/groups", title: nav.groups },
  { to: "/orgs/$org/projects", title: nav.projects },
  ...usedScreens,
  ...accessScreens,
  ...pastScreens,
  ...connectionScreens,
] as const;

/** Returns the screens of an org whose titles have a word that begins so, in any case; none for an empty text. */
export function findScreens(text: string): readonly (typeof screens)[number][] {
  const sought = text.trim().toLowerCase();
  if (sought === "") return [];
  return screens.filter(({ title }) => ` ${title.toLowerCase()}`.includes(` ${sought}`));
}
