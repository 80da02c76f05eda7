import { type Decider, type LocatedResource, type Question, conditionContextOf } from "./decider.ts";
import { explain } from "./engine/explain.ts";
import type { OrgSnapshot } from "./engine/org-snapshot.ts";
import { memberPathIn, rolePathIn } from "./snapshot-paths.ts";

/** Whoever holds it may see who holds what on a resource. */
export const explainPermission = "iam.access.explain";

const maxGranters = 3;

interface Denial {
  readonly message: string;
  readonly metadata: Record<string, string>;
}

/**
 * What a caller is told who lacks a permission: which one, and, if it may see who holds what there, the smallest role that
 * holds it and who can grant that. Others learn nothing, not even whether the resource exists.
 */
export function explainDenial(
  decider: Decider,
  snapshot: OrgSnapshot,
  question: Question,
  permission: string,
  located: LocatedResource | undefined,
): Denial {
  const message = `the caller lacks the permission ${permission} on this resource`;
  if (located === undefined || !decider.allows(snapshot, question, explainPermission, located)) {
    return { message: `${message} (or it might not exist)`, metadata: { permission } };
  }
  const { subject, now } = question;
  const conditionContext = conditionContextOf(snapshot, question, located);
  const explanation = explain(
    snapshot,
    { subject, permission, resource: located.resource, now, conditionContext },
    { maxRoles: 1, maxGrantors: maxGranters, contextOf: () => conditionContext },
  );
  if (explanation.allowed) {
    const state = `the ${located.suspended ?? "org"} is SUSPENDED`;
    return { message: `${message} while ${state}`, metadata: { permission, state: "SUSPENDED" } };
  }
  const [role] = explanation.roles;
  const rolePath = role === undefined ? undefined : rolePathIn(snapshot, role);
  const granters = explanation.grantors.map((id) => memberPathIn(snapshot, id));
  const advice = [
    rolePath === undefined ? "no role holds it" : `the smallest role that holds it is ${rolePath}`,
    granters.length === 0 ? "" : `${granters.join(", ")} can grant it`,
  ].filter((part) => part !== "");
  return {
    message: `${message}; ${advice.join("; ")}`,
    metadata: {
      permission,
      ...(rolePath !== undefined && { role: rolePath }),
      ...(granters.length > 0 && { granters: granters.join(" ") }),
    },
  };
}
