// What can be created in an org from every screen: each leads to the list with its form open.
import { texts } from "../texts/texts.ts";

const actions = [
  { to: "/orgs/$org/members", search: { create: true }, title: texts.members.create },
  { to: "/orgs/$org/members", search: { create: true, type: "APPLICATION" }, title: texts.accounts.create },
  { to: "/orgs/$org/projects", search: { create: true }, title: texts.projects.create },
  { to: "/orgs/$org/roles", search: { create: true }, title: texts.roles.create },
  { to: "/orgs/$org/roleBindings", search: { create: true }, title: texts.grants.create },
] as const;

/** Returns those whose titles have a word that begins so, in any case; all for an empty text. */
export function findActions(text: string): readonly (typeof actions)[number][] {
  const sought = text.trim().toLowerCase();
  return actions.filter(({ title }) => ` ${title.toLowerCase()}`.includes(` ${sought}`));
}
