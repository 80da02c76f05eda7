// Authorises reads of what was in an org earlier.
import type { Authorised, Requirement } from "../../access/evaluation/authorise.ts";
import { unlimited } from "../../access/evaluation/visibility.ts";
import type { AnyPath } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { MethodRules } from "../method-rules.ts";
import type { RequestFields } from "./read-paths.ts";

/** What those who read the past must hold besides the permission of the method. */
const readsLog = "iam.changes.list";

type Decide = (requirement: Requirement, path: AnyPath) => Promise<Authorised>;

/**
 * Decides on a path; for a request about the past of one org, on the org, and now: below it, a path of then can be that of something else.
 *
 * @throws ServiceError PERMISSION_DENIED
 */
export async function decideInTime(
  decide: Decide,
  { readsPast, openToMembers }: Pick<MethodRules, "readsPast" | "openToMembers">,
  requirement: Requirement,
  path: AnyPath,
  message: RequestFields,
): Promise<Authorised> {
  if (!readsPast || !isInPast(path, message)) return decide({ ...requirement, openToMembers }, path);
  const { pattern, references } = path;
  const org = { pattern: patterns.Org, references: references.slice(0, 1) };
  const { target } = await decide({ ...requirement, listVisibility: "never" }, org);
  await decide({ permission: readsLog, listVisibility: "never" }, org);
  // What is below has no path now, so a condition on that does not hold, as with `-`.
  const below = references.slice(1).map(() => ({ by: "any" }) as const);
  if (below.length > 0) {
    const all = { pattern, references: [...org.references, ...below] };
    await decide({ ...requirement, listVisibility: "never" }, all);
  }
  return {
    target: { ...target, pattern, references: [...target.references, ...references.slice(1)] },
    visible: unlimited,
  };
}

/** Reports whether a request asks for what one org was or had earlier. Handlers refuse other paths. */
function isInPast({ pattern, references: [org] }: AnyPath, message: RequestFields): boolean {
  const isAsked = message["asOfRevision"] !== "" || message["asOfTime"] !== undefined;
  return isAsked && pattern[0] === patterns.Org[0] && org !== undefined && org.by !== "any";
}
