import { nameOf } from "../../calls/paths.ts";

/** Returns the base URL of SCIM for an org, as a directory calls it. */
export const scimUrl = (org: string): string => `${location.origin}/scim/v2/orgs/${nameOf(org)}`;
