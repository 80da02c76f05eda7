/** The forms of the paths that have a screen: of resources, and of collections. */
const forms: readonly RegExp[] = [
  /^\/orgs\/[^/]+$/,
  /^\/orgs\/[^/]+\/(members|groups|projects|roleBindings|changes)$/,
  /^\/orgs\/[^/]+\/(members|groups|projects)\/[^/]+$/,
];

/** Whether what is at a path has a screen, which is then at its path. */
export const hasScreen = (path: string): boolean => forms.some((form) => form.test(path));
