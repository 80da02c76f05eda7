import { questionOf } from "../access/evaluation/question.ts";
import { isOrgOf } from "../access/evaluation/resolve-in-snapshot.ts";
import type { Caller } from "../identity/caller.ts";
import { patterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";
import type { AccessDependencies } from "./dependencies.ts";

/** Whether a caller may ask about the members of an org. */
export type MayAskAbout = (caller: Caller, org: Reference, permission: string) => Promise<boolean>;

/**
 * The interceptor decides on what is asked about. Whether the subject, or its org, is there must not show to a caller that has
 * nothing to do with that org: a caller may ask about its own org, and about those where it holds the permission.
 */
export function createMayAskAbout({ snapshots, evaluator }: AccessDependencies): MayAskAbout {
  return async (caller, org, permission) => {
    const own = await snapshots.at(caller.orgId, caller.orgRevision);
    if (isOrgOf(own, org)) return true;
    const path = { pattern: patterns.Org, references: [org] };
    return (await evaluator.resolveAllowed(own, questionOf(caller), permission, path)) !== undefined;
  };
}
