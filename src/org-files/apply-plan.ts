// Applies a plan: the lock of the org is taken, the plan must be of the revision that the org then has, and its changes are made in the one
// transaction of the call. So an apply is whole or nothing, and of two of the same revision one is refused.
import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type ApplyOrgResponse, ApplyOrgResponseSchema } from "../../gen/iam/v1alpha/org_file_pb.ts";
import type { WriteGroup } from "../changes/write-group.ts";
import { ServiceError, invalidField } from "../errors/service-error.ts";
import { formatPath } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { lockKinds } from "../quotas/kinds.ts";
import type { WriteCall } from "../standard-methods/write/write-call.ts";
import { applyChanges } from "./apply-changes.ts";
import { applyInGroup } from "../standard-methods/write/apply-in-group.ts";
import { type ManagedChanges, toManagedRows } from "./managed-changes.ts";
import { type ManagedResources, isSameManaged, readManaged } from "./managed-resources.ts";
import { type Source, putManagedRows, removeManagedRows } from "./managed-store.ts";
import { type Plan, type PlanToken, parseToken } from "./plan-changes.ts";
import type { OfCaller, OrgState } from "./read-state.ts";

/** A plan that was made for the call. */
export interface Prepared {
  readonly state: OrgState;
  readonly plan: Plan;
  readonly token: PlanToken;
  /** What it makes of who manages what; undefined if the request says no source. */
  readonly managed:
    | { readonly source: Source; readonly before: ManagedResources; readonly changes: ManagedChanges }
    | undefined;
}

/**
 * Applies a plan in the transaction of a call.
 *
 * @param planned the token of the plan that the request names.
 * @throws ServiceError ETAG_STALE when the org has another revision, or what expires makes other changes, FIELD_INVALID when the plan is of
 *   another request, STATE_FORBIDS when it has obstacles. ConnectError of the method that refuses.
 */
export async function applyPlan(
  ofCaller: OfCaller,
  context: HandlerContext,
  call: WriteCall,
  prepared: Prepared,
  planned: string,
): Promise<ApplyOrgResponse> {
  const { state, plan, managed } = prepared;
  const check = async (group: WriteGroup): Promise<void> => {
    requirePlanned(group, prepared, planned);
    // Another source can have adopted resources without changing them, and so the revision.
    if (managed !== undefined && !(await isSameManaged(managed.before, await readManaged(call.db, state.id))))
      throw moved(state);
  };
  const revision = await applyInGroup(context, call, state.id, check, async ({ db, org }) => {
    // Those of all quotas at once, in the order in which all transactions lock them.
    await lockKinds(db, [...new Set(plan.quotas.flatMap(({ kinds }) => kinds))]);
    const created = await applyChanges(ofCaller, context, formatPath(patterns.Org, `@${state.id}`), plan.changes);
    if (managed === undefined) return;
    await removeManagedRows(db, org, managed.changes.removals);
    await putManagedRows(db, org, await toManagedRows(managed.changes.puts, created), managed.source);
  });
  return create(ApplyOrgResponseSchema, { changeCount: plan.changes.length, revision });
}

function requirePlanned({ org }: WriteGroup, { state, plan, token }: Prepared, planned: string): void {
  const { revision, changes, request } = parseToken(planned);
  if (revision !== state.revision || org.revision !== state.revision) throw moved(state);
  if (request !== token.request)
    throw invalidField("plan", "must be the plan of this file, with the same options", "plan");
  // What was asked for is the same, and makes other changes: time has passed, and something has expired.
  if (changes !== token.changes) throw moved(state);
  if (plan.obstacles.length === 0) return;
  throw new ServiceError("STATE_FORBIDS", plan.obstacles.join("; "), { metadata: { resource: `/orgs/${state.name}` } });
}

/** Returns the error for a plan of an org that has changed since. */
export function moved({ name }: Pick<OrgState, "name">): ServiceError {
  const resource = `/orgs/${name}`;
  return new ServiceError("ETAG_STALE", `${resource} has changed since the plan; plan again`, {
    metadata: { resource },
  });
}
