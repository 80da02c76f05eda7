// What a plan does to access: who gains and loses what, and which expectations of the file it breaks.
import type { HandlerContext } from "@connectrpc/connect";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import type { AccessPreview } from "../../gen/iam/v1alpha/access_preview_pb.ts";
import { callerOf, slicesOf } from "../access/evaluation/call.ts";
import type { BrokenExpectation } from "../access/previews/find-broken.ts";
import type { OpenPlannedOrg } from "../access/previews/planned-org.ts";
import { type FieldViolation, invalidFields } from "../errors/service-error.ts";
import { findUnknownPermission } from "../iam/roles/find-unknown-permission.ts";
import { maxViolations } from "../validation/validate-message.ts";
import type { Plan } from "./plan-changes.ts";
import { type PlannedRows, toPlannedRows } from "./planned-rows.ts";
import type { FileExpectation } from "./read-expectations.ts";
import type { OfCaller, OrgState } from "./read-state.ts";

export interface AccessDependencies {
  readonly ofCaller: OfCaller;
  readonly openPlannedOrg: OpenPlannedOrg;
  /** All permissions of this service. */
  readonly knownPermissions: readonly string[];
}

/** A plan for an org, with what its file expects. */
interface PlanOfState {
  readonly state: OrgState;
  readonly plan: Plan;
  readonly expectations: readonly FileExpectation[];
}

export interface PlannedAccess {
  /** Who gains and loses what; undefined if it is not wanted, or no change can affect access. */
  readonly preview: AccessPreview | undefined;
  /** Why the plan cannot be applied: an obstacle for each expectation that would not hold. */
  readonly obstacles: readonly string[];
}

/** Whether a plan is previewed, or only the expectations of its file are checked. */
export type AccessWanted = "with preview" | "expectations only";

/** How many broken expectations are told one by one. */
const maxBroken = 100;

/**
 * Finds what a plan does to access; undefined if the org has changed since its state was read. A caller that gives expectations must hold
 * the permission to check access on the org.
 *
 * @param wanted whether a preview is.
 * @throws ServiceError FIELD_INVALID for a permission that there is not,
 *   RATE_LIMITED. ConnectError PERMISSION_DENIED.
 */
export async function findAccess(
  { ofCaller, openPlannedOrg, knownPermissions }: AccessDependencies,
  context: HandlerContext,
  { state, plan, expectations }: PlanOfState,
  wanted: AccessWanted,
): Promise<PlannedAccess | undefined> {
  const rows = toPlannedRows(state, plan);
  const isPreviewed = wanted === "with preview" && rows.changes.steps.some(({ entries }) => entries.length > 0);
  if (!isPreviewed && expectations.length === 0) return { preview: undefined, obstacles: [] };
  requireKnown(expectations, knownPermissions);
  await requireMayCheck(ofCaller, context, state, expectations);
  const call = { caller: callerOf(context), signal: context.signal, slices: slicesOf(context) };
  const found = await openPlannedOrg(call, rows.changes, async (org) => ({
    preview: isPreviewed ? await org.preview() : undefined,
    broken: await org.findBroken(expectations.map((each) => toExpectation(each, rows))),
  }));
  if (found === undefined) return undefined;
  return { preview: found.preview, obstacles: describeBroken(found.broken, expectations, plan) };
}

function requireKnown(expectations: readonly FileExpectation[], known: readonly string[]): void {
  const violations = expectations.flatMap(({ permission, place }): FieldViolation[] => {
    const description = findUnknownPermission(permission, known);
    return description === undefined ? [] : [{ field: place, description }];
  });
  if (violations.length > 0) throw invalidFields(violations.slice(0, maxViolations));
}

/** Asks the method by which access is checked, so that it decides, and notes, who may know the answers. */
async function requireMayCheck(
  ofCaller: OfCaller,
  context: HandlerContext,
  { name }: OrgState,
  [first]: readonly FileExpectation[],
): Promise<void> {
  if (first === undefined) return;
  const resourcePath = `/orgs/${name}`;
  const { permission, subjectPath } = first;
  const check = { subjectPath: `${resourcePath}/${subjectPath}`, permission, resourcePath };
  await ofCaller(AccessService.method.checkAccess, check, context);
}

function toExpectation({ subjectPath, projectPath, permission, isAllowed }: FileExpectation, { idOf }: PlannedRows) {
  const kind = subjectPath.startsWith("groups/") ? ("group" as const) : ("member" as const);
  return {
    subject: { kind, id: idOf(subjectPath) },
    permission,
    projectId: projectPath === "" ? undefined : idOf(projectPath),
    isAllowed,
  };
}

function describeBroken(
  broken: readonly BrokenExpectation[],
  expectations: readonly FileExpectation[],
  { changes }: Plan,
): readonly string[] {
  const sentences = broken.slice(0, maxBroken).map(({ index, since }) => {
    const expected = JSON.stringify(expectations[index]?.text);
    if (since === "before") return `expect[${index}] ${expected} does not hold, and did not before the changes either`;
    const change = since === undefined ? undefined : changes[since];
    const by = change === undefined ? "" : `: ${change.action} ${change.path === "" ? "the org" : change.path}`;
    return `expect[${index}] ${expected} would not hold any more${by}`;
  });
  const more = broken.length - sentences.length;
  return more > 0 ? [...sentences, `${more} more expectations would not hold`] : sentences;
}
