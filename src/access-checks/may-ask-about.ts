import { questionOf } from "../access/authorise.ts";
import { isOrgOf } from "../access/decider.ts";
import type { Caller } from "../identity/caller.ts";
import type { Reference } from "../paths/resource-path.ts";
import type { AccessDependencies } from "./dependencies.ts";

/** Whether a caller may ask about the members of an org. */
export type MayAskAbout = (caller: Caller, org: Reference, permission: string) => Promise<boolean>;

/**
 * The interceptor looks at what is asked about; who is asked about must not tell whoever has nothing to do with their org that
 * they, or the org, are there. A caller may ask about its own org, and about those where it holds the permission.
 */
export function createMayAskAbout({ snapshots, decider }: AccessDependencies): MayAskAbout {
  return async (caller, org, permission) => {
    const own = await snapshots.at(caller.orgId, caller.orgRevision);
    if (isOrgOf(own, org)) return true;
    const place = { kind: "org", org, project: undefined, isItself: false, isMany: false, rest: "" } as const;
    return decider.allowsAt(own, questionOf(caller), permission, place);
  };
}
