import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { allows, lifting } from "./allows.ts";
import type { CheckRequest } from "./check-request.ts";
import { resolveById } from "./resolve-in-snapshot.ts";

/**
 * Reports whether a caller may learn what is in its own org, also by questions about resources elsewhere: the org is not suspended,
 * or the caller may lift the suspension.
 */
export function seesOwnOrg(own: OrgSnapshot, check: CheckRequest): boolean {
  return own.org.state !== "SUSPENDED" || allows(own, check, lifting.org, resolveById(own));
}
