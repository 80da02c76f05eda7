import type { CelInput } from "@bufbuild/cel";
import type { CountedBindings } from "../engine/decisions/counted-bindings.ts";
import type { Narrowing } from "../engine/decisions/narrowing.ts";
import type { SubjectReference } from "../engine/decisions/find-grant.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { RequestConditions } from "./condition-budget.ts";
import type { RecentHead } from "../../identity/recent-orgs.ts";

/** The subject, the attributes and the time of an access check. `viewCaller` returns the one for a caller. */
export interface CheckRequest {
  readonly subject: SubjectReference;
  /** The value of `context` in conditions. */
  readonly attributes: Readonly<Record<string, CelInput>>;
  /** The database's clock, in milliseconds. */
  readonly now: number;
  readonly counted: CountedBindings;
  /** How the token of the subject narrows what it holds; undefined if it does not. */
  readonly narrowing?: Narrowing | undefined;
  /** Whether it is asked for a SCIM source, in a call that SCIM makes. */
  readonly provisions?: true | undefined;
  /** Whether it is for what is done without a call, such as deliveries: what an org has approved for members of the platform does not count. */
  readonly withoutApprovals?: true | undefined;
  /** The heads of other orgs that were read with the caller; absent if none were, or not for this decision. */
  readonly recentHeads?: readonly RecentHead[] | undefined;
  /** What the conditions of the request have cost so far. All checks of a request share it. */
  readonly conditions: RequestConditions;
}

/** Returns the subject by its id. A record is valid only until the snapshot changes. */
export function subjectById({ members, groups }: OrgSnapshot, subject: SubjectReference): SubjectReference {
  if ("id" in subject) return subject;
  const { kind, record } = subject;
  return { kind, id: (kind === "member" ? members : groups).idOf(record) };
}
