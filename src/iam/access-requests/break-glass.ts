// Access that begins without a decision, in an emergency. Who may begin it holds a permission that only those can give who hold every permission themselves:
// it stands for all that the role has.
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { EscalationGuard } from "../../access/escalation/guard-types.ts";
import { permissionToBreakGlass } from "../../access/escalation/require-held.ts";
import { secondsAfter } from "../../database/clock.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { RoleDependencies } from "../roles/role-dependencies.ts";
import { fixWarnings } from "../contacts/fixed-warnings.ts";
import { type WantedBinding, createRequestBindings } from "./bindings.ts";
import { scopeOf } from "./who-may.ts";

/** How long such access lasts at most, from its beginning. */
const maxHours = 4;

/** What a new request asks for. */
type Asked = Pick<WantedBinding, "org_id" | "id" | "project_id" | "predefined_role" | "role_id" | "expire_time">;

/** Grants what a request asks for, and returns the columns of one that has begun. */
export type BreakGlass = (
  transaction: OrgTransaction,
  asked: Asked,
) => Promise<{ readonly state: "APPROVED"; readonly break_glass: true; readonly binding_id: string }>;

export function createBreakGlass(dependencies: RoleDependencies): BreakGlass {
  const { authorHolds, escalation } = dependencies;
  const bindings = createRequestBindings({ ...dependencies, escalation: ofEmergency(escalation) });
  return async (transaction, asked) => {
    const { author, org } = transaction;
    const path = formatPath(patterns.Org, pathName(org));
    if (author.actorId === null || author.actorOrgId !== org.id)
      throw lacks(`the caller is no member of ${path}`, path);
    requireSoon(transaction, asked.expire_time);
    const holds = await authorHolds.now(transaction);
    if (!(await holds(permissionToBreakGlass, scopeOf(asked)))) {
      throw lacks(`the caller lacks the permission ${permissionToBreakGlass} on what it asks for`, path);
    }
    const wanted = {
      ...asked,
      org_name: org.name,
      org_delete_time: org.delete_time,
      member_id: author.actorId,
    };
    const bindingId = await bindings.grant(transaction, wanted);
    await fixWarnings(transaction, { id: asked.id, memberId: author.actorId, endTime: asked.expire_time });
    return { state: "APPROVED", break_glass: true, binding_id: bindingId };
  };
}

/** Returns the guard of the role bindings that begin so: who grants may begin access on their scope, and need not hold their roles. */
const ofEmergency = (escalation: EscalationGuard): EscalationGuard => ({
  ...escalation,
  async requireMayGrant(transaction, grants) {
    for (const { scope } of grants) await escalation.requireMayBreakGlass(transaction, scope);
  },
});

/** @throws ServiceError FIELD_INVALID */
function requireSoon({ org }: OrgTransaction, end: Date): void {
  const latest = secondsAfter(org.lockTime, maxHours * 3_600);
  if (end <= latest) return;
  const field = "access_request.expire_time";
  throw invalidField(
    field,
    `must be at most ${maxHours} hours from now with break_glass, ${latest.toISOString()}`,
    field,
  );
}

const lacks = (message: string, resource: string): ServiceError =>
  new ServiceError("PERMISSION_DENIED", message, { metadata: { permission: permissionToBreakGlass, resource } });
