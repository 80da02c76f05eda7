import { type Decider, type LocatedResource, type Question, conditionContextOf } from "./decider.ts";
import { type Denied, explain } from "./engine/explain.ts";
import type { OrgSnapshot } from "./engine/org-snapshot.ts";
import { granterContext } from "./granter-context.ts";
import { memberPathIn, rolePathIn } from "./snapshot-paths.ts";

/** Whoever holds it may see who holds what on a resource. */
const explainPermission = "iam.access.explain";

const maxGranters = 3;

interface Denial {
  readonly message: string;
  readonly metadata: Record<string, string>;
}

/**
 * What a caller is told who lacks a permission: which one, and, if it may see who holds what there, the smallest role that
 * holds it and who of its own org can grant that. Others learn nothing, not even whether the resource exists.
 */
export function explainDenial(
  decider: Decider,
  snapshot: OrgSnapshot,
  question: Question,
  permission: string,
  located: LocatedResource | undefined,
): Denial {
  const message = `the caller lacks the permission ${permission} on this resource`;
  const nothing = { message: `${message} (or it might not exist)`, metadata: { permission } };
  if (located === undefined) return nothing;
  const { suspended } = located;
  const holds = (wanted: string): boolean =>
    decider.allows(snapshot, question, wanted, { ...located, suspended: undefined });
  if (!holds(explainPermission)) return nothing;
  if (suspended !== undefined && holds(permission)) {
    return {
      message: `${message} while the ${suspended} is SUSPENDED`,
      metadata: { permission, state: "SUSPENDED" },
    };
  }
  // Where something is suspended only those who can lift that see who holds what.
  if (!decider.allows(snapshot, question, explainPermission, located)) return nothing;
  const denied = explainDenied(snapshot, question, permission, located);
  const [role] = denied?.roles ?? [];
  if (denied === undefined || role === undefined) return { message, metadata: { permission } };
  const rolePath = rolePathIn(snapshot, role);
  const granters = denied.grantors.map((id) => memberPathIn(snapshot, id));
  const help = granters.length === 0 ? "" : `; ${granters.join(", ")} can grant it`;
  return {
    message: `${message}; the smallest role that holds it is ${rolePath}${help}`,
    metadata: { permission, role: rolePath, ...(granters.length > 0 && { granters: granters.join(" ") }) },
  };
}

function explainDenied(
  snapshot: OrgSnapshot,
  question: Question,
  permission: string,
  located: LocatedResource,
): Denied | undefined {
  const { subject, now } = question;
  const conditionContext = conditionContextOf(snapshot, question, located);
  const explanation = explain(
    snapshot,
    { subject, permission, resource: located.resource, now, conditionContext },
    {
      maxRoles: 1,
      // Nothing can be granted where something is suspended.
      maxGrantors: located.suspended === undefined ? maxGranters : 0,
      contextOf: (member, resource) => granterContext(snapshot, member, resource, now),
    },
  );
  return explanation.allowed ? undefined : explanation;
}
