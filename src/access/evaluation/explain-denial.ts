import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { memberPathIn, rolePathIn } from "../snapshots/snapshot-paths.ts";
import { allows } from "./allows.ts";
import { explainTarget } from "./explain-target.ts";
import type { Question } from "./question.ts";
import type { ResolvedTarget } from "./resolved-target.ts";

/** Who holds it may see who holds what on a resource. */
const explainPermission = "iam.access.explain";

const maxGrantors = 3;

interface Denial {
  readonly message: string;
  readonly metadata: Record<string, string>;
}

/**
 * Says why a caller is refused: which permission it lacks and, if it may see who holds what there, the smallest role that holds
 * it and who of its own org can grant that. Others learn nothing, not even whether the resource exists.
 */
export function explainDenial(
  snapshot: OrgSnapshot,
  question: Question,
  permission: string,
  target: ResolvedTarget | undefined,
): Denial {
  const message = `the caller lacks the permission ${permission} on this resource`;
  const nothing = { message: `${message} (or it might not exist)`, metadata: { permission } };
  if (target === undefined) return nothing;
  const { suspended } = target;
  const holds = (wanted: string): boolean => allows(snapshot, question, wanted, { ...target, suspended: undefined });
  if (!holds(explainPermission)) return nothing;
  if (suspended !== undefined && holds(permission)) {
    return {
      message: `${message} while the ${suspended} is SUSPENDED`,
      metadata: { permission, state: "SUSPENDED" },
    };
  }
  // Where something is suspended only those who can lift that see who holds what.
  if (!allows(snapshot, question, explainPermission, target)) return nothing;
  const explanation = explainTarget(snapshot, question, permission, target, { maxRoles: 1, maxGrantors });
  const [role] = explanation.allowed ? [] : explanation.roles;
  if (explanation.allowed || role === undefined) return { message, metadata: { permission } };
  const rolePath = rolePathIn(snapshot, role);
  const granters = explanation.grantors.map((id) => memberPathIn(snapshot, id));
  const help = granters.length === 0 ? "" : `; ${granters.join(", ")} can grant it`;
  return {
    message: `${message}; the smallest role that holds it is ${rolePath}${help}`,
    metadata: { permission, role: rolePath, ...(granters.length > 0 && { granters: granters.join(" ") }) },
  };
}
