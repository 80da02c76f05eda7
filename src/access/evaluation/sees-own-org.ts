import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { allows, lifting } from "./allows.ts";
import type { CheckRequest } from "./check-request.ts";
import type { RecordUse } from "./evaluator.ts";
import { resolveById } from "./resolve-in-snapshot.ts";

/**
 * Reports whether a caller may learn what is in its own org, also by questions about resources elsewhere: the org is not suspended,
 * or the caller may lift the suspension.
 *
 * @param recordUse records what lets the caller lift it, where the answer decides about a call.
 */
export function seesOwnOrg(own: OrgSnapshot, check: CheckRequest, recordUse?: RecordUse): boolean {
  if (own.org.state !== "SUSPENDED") return true;
  const target = resolveById(own);
  if (!allows(own, check, lifting.org, target)) return false;
  recordUse?.(own, check, lifting.org, target);
  return true;
}
