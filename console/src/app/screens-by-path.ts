/** The forms of the paths that have a screen: of resources, and of collections. */
const forms: readonly RegExp[] = [
  /^\/orgs\/[^/]+$/,
  /^\/orgs\/[^/]+\/(members|groups|projects|roleBindings|roles|findings|account|changes|webhooks|eventStreams|clients|identityProviders|scimSources)$/,
  /^\/orgs\/[^/]+\/(members|groups|projects|roles|webhooks|eventStreams|clients|identityProviders|scimSources|quotaRequests|accessRequests)\/[^/]+$/,
  /^\/roles\/[^/]+$/,
  /^\/services(\/[^/]+(\/roleBindings|\/resourceTypes\/[^/]+)?)?$/,
  /^\/quantityKinds$/,
  /^\/orgs\/[^/]+\/projects\/[^/]+\/roleBindings$/,
  /^\/orgs\/[^/]+(\/projects\/[^/]+)?\/(quota|usage)$/,
  /^\/orgs\/[^/]+\/(quotaRequests|accessRequests)$/,
  /^\/customers\/[^/]+(\/quota|\/usage|\/webhooks(\/[^/]+)?)?$/,
  /^\/orgs\/[^/]+\/projects\/[^/]+\/(resources|operations)(\/[^/]+)?$/,
];

/** Whether what is at a path has a screen, which is then at its path. */
export const hasScreen = (path: string): boolean => forms.some((form) => form.test(path));

/** Returns the path of the screen that shows something: its own, or else that of the nearest thing that contains it. */
export function nearestScreen(path: string): string {
  let nearest = path;
  while (nearest !== "" && !hasScreen(nearest)) nearest = nearest.slice(0, nearest.lastIndexOf("/"));
  return nearest || "/";
}
