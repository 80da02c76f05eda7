// Paths of resources, such as `/orgs/acme/members/alice`. A screen of the console has the path of what it shows.

/** Returns the last segment: the name, or `@` and the id. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Returns the collection of a resource, such as `members`. */
export const collectionOf = (path: string): string => path.split("/").at(-2) ?? "";

/** Returns what contains a resource: `/orgs/acme` for `/orgs/acme/members/alice`. */
export const parentOf = (path: string): string => path.split("/").slice(0, -2).join("/");

/** Returns the org that a path leads into: `/orgs/acme` for `/orgs/acme/members/alice`; empty for one outside of orgs. */
export const orgOf = (path: string): string => (path.startsWith("/orgs/") ? path.split("/").slice(0, 3).join("/") : "");

/** Returns the path below its org: `members/alice` for `/orgs/acme/members/alice`; the name of the org for that itself. */
export const belowOrg = (path: string): string => path.split("/").slice(3).join("/") || nameOf(path);

/** Returns the path of the quota of something: `/orgs/acme/quota` for `/orgs/acme`. */
export const quotaOf = (path: string): string => `${path}/quota`;

/** Returns the path of the usage of something: `/orgs/acme/usage` for `/orgs/acme`. */
export const usageOf = (path: string): string => `${path}/usage`;

/** Returns whose quota is at a path: `/orgs/acme` for `/orgs/acme/quota`. */
export const parentOfQuota = (path: string): string => path.replace(/\/quota$/, "");

/** The org of the installation. Only its members and groups can hold roles on the platform and on services. */
export const systemOrg = "/orgs/system";

/** Stands for all projects of an org, in the place of the name of one. */
export const allProjects = "-";
