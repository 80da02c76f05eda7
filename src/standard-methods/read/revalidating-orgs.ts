import { patterns } from "../../paths/patterns.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { ResourceDefinition, ResourcePlace } from "../definition/definition.ts";

/** Returns the orgs whose revisions show that the response to a read is still right; undefined if no revision does. */
export type RevalidatingOrgs = (path: readonly Reference[]) => readonly [Reference, ...Reference[]] | undefined;

/**
 * Creates the function that returns the revalidating orgs of reads of a resource in one of its places.
 *
 * @param systemOrgId the installation's own org.
 */
export function createRevalidatingOrgs(
  { responses: usual }: Pick<ResourceDefinition, "responses">,
  { pattern, responses = usual }: ResourcePlace,
  systemOrgId: string,
): RevalidatingOrgs {
  if ("neverRevalidated" in responses) return () => undefined;
  const isInOrg = pattern[0] === patterns.Org[0];
  const system: Reference = { by: "id", value: systemOrgId };
  return (path) => {
    const orgs: Reference[] = [];
    for (const source of responses.revalidatedBy) {
      const org = source === "system" ? system : path[0];
      // A list across orgs depends on the revisions of all of them.
      if (org === undefined || org.by === "any" || (source === "org of the path" && !isInOrg)) return undefined;
      orgs.push(org);
    }
    const [first, ...rest] = orgs;
    return first && [first, ...rest];
  };
}
