import type { Caller } from "../../identity/caller.ts";
import type { RecentOrgs } from "../../identity/recent-orgs.ts";
import { patterns } from "../../paths/patterns.ts";
import type { Authorise } from "./authorise.ts";
import type { ResolvedTarget } from "./resolved-target.ts";

/**
 * Lets the next call of a member of the platform read, together with its key, the org in which this one was allowed: whether its customer
 * requires an approval is asked for each call.
 */
export function rememberOrgs(authorise: Authorise, recentOrgs: RecentOrgs, systemOrgId: string): Authorise {
  const remember = ({ clientId }: Caller, { pattern, references: [org] }: ResolvedTarget): void => {
    if (pattern[0] !== patterns.Org[0] || org?.by !== "id" || org.value === systemOrgId) return;
    recentOrgs.add(clientId, org.value);
  };
  const remembering = async (...[caller, ...call]: Parameters<Authorise>): ReturnType<Authorise> => {
    const authorised = await authorise(caller, ...call);
    if (caller.orgId === systemOrgId) remember(caller, authorised.target);
    return authorised;
  };
  return Object.assign(remembering, authorise);
}
