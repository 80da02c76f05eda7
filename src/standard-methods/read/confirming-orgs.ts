import { patterns } from "../../paths/patterns.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { ResourceDefinition, ResourcePlace } from "../definition/definition.ts";

/** Returns the orgs whose revisions confirm the answer to a read; undefined if none do. */
export type ConfirmingOrgs = (path: readonly Reference[]) => readonly [Reference, ...Reference[]] | undefined;

/**
 * Creates the function that returns the orgs from which reads of a resource in one of its places are answered.
 *
 * @param systemOrgId the installation's own org.
 */
export function createConfirmingOrgs(
  { answers: usual }: Pick<ResourceDefinition, "answers">,
  { pattern, answers = usual }: ResourcePlace,
  systemOrgId: string,
): ConfirmingOrgs {
  if ("unconfirmed" in answers) return () => undefined;
  const isInOrg = pattern[0] === patterns.Org[0];
  const system: Reference = { by: "id", value: systemOrgId };
  return (path) => {
    const orgs: Reference[] = [];
    for (const source of answers.confirmedBy) {
      const org = source === "system" ? system : path[0];
      // A list across orgs is read from more than can be confirmed.
      if (org === undefined || org.by === "any" || (source === "org of the path" && !isInOrg)) return undefined;
      orgs.push(org);
    }
    const [first, ...rest] = orgs;
    return first && [first, ...rest];
  };
}
